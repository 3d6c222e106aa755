// npm run bench:agent: what the agent takes on a node while a run goes on: `agent serve`, asked for
// the host's figures once a second, `agent supervise` and `agent join` of a run whose command
// sleeps. Memory and CPU of each over a minute; exit 1 over a limit.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { codeOf } from '../lib/errors.mjs';
import { root } from '../lib/paths.mjs';
import { capture, main, step } from '../lib/shell.mjs';

/** @typedef {{ resolve: (result: Reply) => void, reject: (error: Error) => void }} Waiting */
/**
 * What we read of the agent's answers (docs/contracts/rpc.md).
 * @typedef {{ dir?: string, state?: { phase: string, reason: string | null, ranks: unknown[] } }} Reply
 */
/**
 * @typedef {{
 *   agent: string,
 *   trainer: string,
 *   mpiexec: string,
 *   python: string,
 *   tensorboardServer: string,
 *   hashes: Record<string, string>,
 * }} Runtime
 */

const seconds = Number(process.env['BENCH_SECONDS'] ?? '60');
const limits = { megabytes: 15, cpuPercent: 0.5 };
const ticks = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout);

/** `agent serve`, asked one thing after the other. */
class Agent {
  #id = 0;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();

  /** @param {string} program */
  constructor(program) {
    this.child = spawn(program, ['serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const nonce = '0'.repeat(32);
    this.child.stdin.write(`${JSON.stringify({ nonce })}\n`);
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      if (line === `trainyard-agent ${nonce}`) return;
      const { id, result, error } = JSON.parse(line);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(error.message));
      else waiting?.resolve(result);
    });
    this.child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`agent serve ended (${signal ?? `exit ${code}`})`));
    });
  }

  /**
   * @param {string} method
   * @param {unknown} params
   * @returns {Promise<Reply>}
   */
  ask(method, params) {
    const id = ++this.#id;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

/**
 * The local runtime's paths.
 * @returns {Runtime}
 */
function findRuntime() {
  const cli = join(root, 'dist', 'trainyard.cjs');
  if (!existsSync(cli)) throw new Error('the programs are missing. Run: npm run build');
  const { ok, stdout, stderr } = capture(process.execPath, [cli, '--json', 'runtime']);
  if (!ok) throw new Error(`trainyard runtime failed: ${stderr.trim()}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/**
 * A run of one node that joins itself, so that both `supervise` and `join` are there.
 * @param {Runtime} runtime
 */
const specOf = ({ agent, trainer, mpiexec, python, tensorboardServer, hashes }) => ({
  version: 1,
  label: 'bench',
  profile: { name: 'bench', kind: 'ssh' },
  program: 'command',
  argv: ['sleep', '600'],
  cwd: '/',
  ranks: 1,
  threadsPerRank: 1,
  env: {},
  evaluator: null,
  tensorboard: false,
  paths: { agent, trainer, mpiexec, python, tensorboardServer },
  hashes,
  limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
  launcher: 'manual',
  nodes: [{ host: 'here', address: '127.0.0.1', slots: 1, gpus: null }],
  interface: 'lo',
  portRange: '47200-47299',
  minNodes: 1,
  totalSteps: null,
});

/**
 * @param {number | string} pid
 * @param {string} name
 */
function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(codeOf(error) ?? '')) return '';
    throw error;
  }
}

/**
 * The agent's process in this part, for the run in `dir`.
 * @param {string} part
 * @param {string} dir
 */
function findPart(part, dir) {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const words = read(pid, 'cmdline').split('\0');
    return words[1] === part && words.some((word) => word.startsWith(dir));
  });
  if (found === undefined) throw new Error(`no process agent ${part} of ${dir}`);
  return Number(found);
}

/** @param {number} pid */
function usage(pid) {
  const stat = read(pid, 'stat');
  if (stat === '') throw new Error(`process ${pid} ended`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(read(pid, 'status'))?.[1]) * 1024;
  return { cpu: (Number(fields[11]) + Number(fields[12])) / ticks, resident };
}

/**
 * @param {Agent} agent
 * @param {string} dir
 */
async function untilRunning(agent, dir) {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(200)) {
    const { state } = await agent.ask('run.get', { dir });
    if (state?.phase === 'running' && state.ranks.length === 1) return;
    if (state?.reason) throw new Error(`the run ended: ${state.reason}`);
  }
  throw new Error('the run did not start within 30 s');
}

/**
 * Once a second what a client asks; the most memory, and the CPU over all of it.
 * @param {Agent} agent
 * @param {Record<string, number>} parts
 */
async function watch(agent, parts) {
  const watched = Object.entries(parts).map(([name, pid]) => {
    const { cpu, resident } = usage(pid);
    return { name, pid, before: cpu, most: resident };
  });
  const began = Date.now();
  for (let second = 1; second <= seconds; second++) {
    await agent.ask('host.sample', {});
    for (const part of watched) part.most = Math.max(part.most, usage(part.pid).resident);
    await pause(Math.max(0, began + second * 1000 - Date.now()));
  }
  const wall = (Date.now() - began) / 1000;
  return watched.map(({ name, pid, before, most }) => ({
    name,
    megabytes: most / 1e6,
    cpuPercent: (100 * (usage(pid).cpu - before)) / wall,
  }));
}

main(async () => {
  const runtime = findRuntime();
  const workdir = mkdtempSync(join(tmpdir(), 'trainyard-bench-agent-'));
  const agent = new Agent(runtime.agent);
  let dir;
  try {
    ({ dir } = await agent.ask('run.start', { workdir, spec: specOf(runtime) }));
    const { pid } = agent.child;
    if (dir === undefined || pid === undefined) throw new Error('the agent started no run');
    await untilRunning(agent, dir);
    const parts = {
      serve: pid,
      supervise: findPart('supervise', dir),
      join: findPart('join', dir),
    };
    step(`watching for ${seconds} s`);
    for (const { name, megabytes, cpuPercent } of await watch(agent, parts)) {
      const isHeld = megabytes < limits.megabytes && cpuPercent < limits.cpuPercent;
      if (!isHeld) process.exitCode = 1;
      process.stdout.write(
        `agent ${name.padEnd(10)} ${megabytes.toFixed(1).padStart(6)} MB, limit ${limits.megabytes}; ` +
          `${cpuPercent.toFixed(2)}% of a core, limit ${limits.cpuPercent}${isHeld ? '' : '  OVER'}\n`,
      );
    }
  } finally {
    if (dir) await agent.ask('run.kill', { dir });
    agent.child.stdin.end();
    rmSync(workdir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
});

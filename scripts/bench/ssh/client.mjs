// What the benchmark measures of ours, in a process of its own as ssh has one: the core, asked by
// messages. Bundled before it runs.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Questions } from '../../../src/core/cluster/nodes/retry.ts';
import { SshMachine } from '../../../src/core/cluster/sshMachine.ts';
import { placeCode } from '../../../src/core/code/place.ts';
import { snapshotFor } from '../../../src/core/cluster/nodes/startCode.ts';
import { nullLogger } from '../../../src/core/base/log.ts';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.ts';
import { PortForward } from '../../../src/core/tunnels/portForward.ts';

/**
 * @typedef {typeof operations} Operations
 * @typedef {{ id: number, op: keyof Operations, params: never }} Question
 * @typedef {{ id: number, result?: unknown, error?: string }} Answer
 * @typedef {ConstructorParameters<typeof LazyTransport>[1]['prompter']} Prompter
 */

const { profile, home, bundleDir } = JSON.parse(process.argv[2] ?? '');
const [target] = profile.hosts;

/** Nobody is there to answer. */
const silent = {
  secret: () => Promise.reject(new Error('a secret was asked for')),
  trust: () => Promise.reject(new Error('a host key was asked about')),
};
/** @param {Prompter} [prompter] */
const newTransport = (prompter = silent) =>
  new LazyTransport(profile, { prompter, home, logger: nullLogger });

const transport = newTransport();
/** @type {Awaited<ReturnType<LazyTransport['connect']>> | undefined} */
let connection;
/** @type {Map<number, PortForward>} */
const forwards = new Map();

const operations = {
  /**
   * A port here that leads to `port` of the node; the connection under it stays.
   * @param {{ port: number }} far
   */
  async tunnel({ port }) {
    const ssh = (connection ??= await transport.connect(target, {}));
    const forward = await PortForward.open({
      port: 0,
      connect: () => ssh.forwardTcp('127.0.0.1', port),
      remote: `port ${port}`,
    });
    forwards.set(forward.port, forward);
    return forward.port;
  },

  /** @param {{ port: number }} near */
  close({ port }) {
    forwards.get(port)?.dispose();
    forwards.delete(port);
  },

  /** Milliseconds from nothing to the end of `true` there. */
  async login() {
    const began = performance.now();
    const own = newTransport();
    try {
      const channel = await (await own.connect(target, {})).exec('true');
      channel.stdin.end();
      const { code } = await channel.closed;
      if (code !== 0) throw new Error(`true ended with exit ${code}`);
      return performance.now() - began;
    } finally {
      own.dispose();
    }
  },

  /**
   * Milliseconds, login and all.
   * @param {{ from: string, to: string }} folders
   */
  async upload({ from, to }) {
    const began = performance.now();
    const there = /** @type {Parameters<SshMachine['copy']>[2]} */ (to);
    const questions = new Questions(silent);
    const machine = new SshMachine({ profile, transport: newTransport(questions), questions, bundleDir });
    try {
      await machine.copy(machine.nodes, from, there);
      return performance.now() - began;
    } finally {
      machine.dispose();
    }
  },

  /**
   * Milliseconds for a folder of code on all nodes. `login`: with the connections to them.
   * @param {{ folder: string, cache: string, id: string, login: boolean }} what
   */
  async code({ folder, cache, id, login }) {
    let began = performance.now();
    const questions = new Questions(silent);
    const machine = new SshMachine({ profile, transport: newTransport(questions), questions, bundleDir });
    try {
      if (!login) {
        await machine.connectAll();
        for (const node of machine.nodes) await node.probe();
        began = performance.now();
      }
      const snapshot = await snapshotFor(machine, folder, { cache });
      const workdir = /** @type {Parameters<typeof placeCode>[2]['workdir']} */ ('~/.trainyard');
      const run = { profile, workdir, id, logger: nullLogger };
      const code = { record: snapshot.record, snapshot };
      await placeCode(
        machine.nodes.map((node) => ({ node })),
        code,
        run,
      );
      return performance.now() - began;
    } finally {
      machine.dispose();
    }
  },

  /** Bytes. */
  resident() {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  },
};

/** @param {Answer} value */
const answer = (value) => process.send?.(value);

process.on('message', async (message) => {
  const { id, op, params } = /** @type {Question} */ (message);
  try {
    answer({ id, result: await operations[op](params) });
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
process.on('disconnect', () => process.exit());

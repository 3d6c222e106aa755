// One practice node, OpenSSH's client for it, and ours in a process of its own.
import { fork, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { startPracticeCluster } from '../../practice/practice.mjs';
import { build as buildDir, root } from '../../lib/paths.mjs';

/** @import { SpawnOptions } from 'node:child_process' */
/** @import { PracticeCluster } from '../../practice/practice.mjs' */
/** @import { Answer, Operations } from './client.mjs' */

/** @typedef {{ resolve: (result: unknown) => void, reject: (error: Error) => void }} Waiting */

const bundleDir = join(root, 'dist');
/** The cipher that ssh2 is given first. */
export const ourCipher = 'aes128-gcm@openssh.com';

/** With the ssh2 that the product carries. */
async function bundleClient() {
  const outfile = join(buildDir, 'bench', 'ssh-client.cjs');
  await build({
    entryPoints: [join(root, 'scripts/bench/ssh/client.mjs')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    mainFields: ['module', 'main'],
    outfile,
    logLevel: 'warning',
    plugins: [
      {
        name: 'built-apart',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^(ssh2|tar)$/ }, ({ path }) => ({
            path: join(bundleDir, `${path}.cjs`),
            external: true,
          }));
        },
      },
    ],
  });
  return outfile;
}

/** Asks the process and waits. */
class Client {
  #child;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #last = 0;

  /**
   * @param {string} program
   * @param {unknown} options
   */
  constructor(program, options) {
    this.#child = fork(program, [JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => {
      const { id, result, error } = /** @type {Answer} */ (message);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the measured process ended (${signal ?? `exit ${code}`})`));
    });
  }

  /**
   * @template {keyof Operations} Op
   * @param {Op} op
   * @param {Parameters<Operations[Op]>} params
   * @returns {Promise<Awaited<ReturnType<Operations[Op]>>>}
   */
  ask(op, ...params) {
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, op, params: params[0] ?? {} });
    });
    return /** @type {Promise<Awaited<ReturnType<Operations[Op]>>>} */ (answer);
  }

  stop() {
    if (this.#child.connected) this.#child.disconnect();
  }
}

export class World {
  /** @type {Client[]} */
  #clients = [];

  /**
   * @param {string} dir For what is sent and what arrives.
   * @param {PracticeCluster} cluster
   * @param {string} program
   */
  constructor(dir, cluster, program) {
    this.dir = dir;
    this.home = join(dir, 'trainyard');
    this.cluster = cluster;
    this.program = program;
    mkdirSync(this.home, { mode: 0o700 });
    copyFileSync(cluster.knownHosts, join(this.home, 'known_hosts'));
  }

  static async start(nodes = 1) {
    const dir = mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
    /** @type {PracticeCluster | undefined} */
    let cluster;
    try {
      const program = await bundleClient();
      cluster = await startPracticeCluster({ nodes, dir: join(dir, 'cluster') });
      return new World(dir, cluster, program);
    } catch (error) {
      await cluster?.stop();
      rmSync(dir, { recursive: true, force: true });
      throw error;
    }
  }

  client() {
    const { home } = this;
    const client = new Client(this.program, { profile: this.cluster.profile, home, bundleDir });
    this.#clients.push(client);
    return client;
  }

  /**
   * The words of an ssh to the node. Without `cipher`, its own choice.
   * @param {readonly string[]} words
   * @param {string} [cipher]
   * @param {number} [node]
   * @returns {[string, ...string[]]}
   */
  ssh(words, cipher, node = 0) {
    const { identityFile, knownHosts, port, nodes } = this.cluster;
    const address = nodes.map((node) => node.address).slice(node, node + 1);
    const options = ['-F', 'none', '-i', identityFile, '-p', String(port), '-o', 'IdentitiesOnly=yes'];
    const known = ['-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'BatchMode=yes'];
    return ['ssh', ...options, ...known, ...(cipher ? ['-c', cipher] : []), ...words, ...address];
  }

  async stop() {
    for (const client of this.#clients) client.stop();
    await this.cluster.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/**
 * Runs to its end.
 * @param {readonly [string, ...string[]]} command
 * @param {SpawnOptions} [options]
 */
export function finish([command, ...args], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(undefined) : reject(new Error(`${command} ended with exit ${code}`)),
    );
  });
}

// One practice node, OpenSSH's client for it, and ours in a process of its own.
import { fork, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { startPracticeCluster } from '../../practice/practice.mjs';
import { build as buildDir, root } from '../../lib/paths.mjs';

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
  #waiting = new Map();
  #last = 0;

  constructor(program, options) {
    this.#child = fork(program, [JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', ({ id, result, error }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the measured process ended (${signal ?? `exit ${code}`})`));
    });
  }

  ask(op, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, op, params });
    });
  }

  stop() {
    if (this.#child.connected) this.#child.disconnect();
  }
}

export class World {
  /** For what is sent and what arrives. */
  dir = mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
  #clients = [];

  static async start() {
    const world = new World();
    try {
      world.cluster = await startPracticeCluster({ nodes: 1, dir: join(world.dir, 'cluster') });
      world.home = join(world.dir, 'trainyard');
      mkdirSync(world.home, { mode: 0o700 });
      copyFileSync(world.cluster.knownHosts, join(world.home, 'known_hosts'));
      world.program = await bundleClient();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  client() {
    const { home } = this;
    const client = new Client(this.program, { profile: this.cluster.profile, home, bundleDir });
    this.#clients.push(client);
    return client;
  }

  /** The words of an ssh to the node. Without `cipher`, its own choice. */
  ssh(words, cipher) {
    const { identityFile, knownHosts, port, nodes } = this.cluster;
    const options = ['-F', 'none', '-i', identityFile, '-p', String(port), '-o', 'IdentitiesOnly=yes'];
    const known = ['-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'BatchMode=yes'];
    return ['ssh', ...options, ...known, ...(cipher ? ['-c', cipher] : []), ...words, nodes[0].address];
  }

  async stop() {
    for (const client of this.#clients) client.stop();
    await this.cluster?.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Runs to its end. */
export function finish([command, ...args], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with exit ${code}`)),
    );
  });
}

// What the benchmark measures of ours, in a process of its own as ssh has one: the core, asked by
// messages. Bundled before it runs.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Questions } from '../../../src/core/cluster/retry.ts';
import { SshMachine } from '../../../src/core/cluster/sshMachine.ts';
import { nullLogger } from '../../../src/core/base/log.ts';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.ts';
import { PortForward } from '../../../src/core/tunnels/portForward.ts';

const { profile, home, bundleDir } = JSON.parse(process.argv[2]);
const [target] = profile.hosts;

/** Nobody is there to answer. */
const silent = {
  secret: () => Promise.reject(new Error('a secret was asked for')),
  trust: () => Promise.reject(new Error('a host key was asked about')),
};
const newTransport = (prompter = silent) =>
  new LazyTransport(profile, { prompter, home, logger: nullLogger });

const transport = newTransport();
let connection;
const forwards = new Map();

const operations = {
  /** A port here that leads to `port` of the node; the connection under it stays. */
  async tunnel({ port }) {
    connection ??= await transport.connect(target, {});
    const forward = await PortForward.open({
      port: 0,
      connect: () => connection.forwardTcp('127.0.0.1', port),
      remote: `port ${port}`,
    });
    forwards.set(forward.port, forward);
    return forward.port;
  },

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

  /** Milliseconds, login and all. */
  async upload({ from, to }) {
    const began = performance.now();
    const questions = new Questions(silent);
    const machine = new SshMachine({ profile, transport: newTransport(questions), questions, bundleDir });
    try {
      await machine.copy(machine.nodes, from, to);
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

process.on('message', async ({ id, op, params }) => {
  try {
    process.send({ id, result: await operations[op](params) });
  } catch (error) {
    process.send({ id, error: error.message });
  }
});
process.on('disconnect', () => process.exit());

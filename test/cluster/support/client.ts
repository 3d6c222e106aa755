// A client in a process of its own, so that it can be stopped, shown another time, and measured:
// started by clientProcess.ts, which says over the process's channel what to follow. It is the core
// of both user interfaces, without a window.
import { readdirSync } from 'node:fs';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { errorText } from '../../../src/core/base/errors.js';
import type { NodePath } from '../../../src/core/base/nodePath.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { RunFeed } from '../../../src/core/follow/runFeed.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';

export interface Setup {
  profile: Profile;
  /** A TRAINYARD_HOME that knows the hosts' keys. */
  home: string;
  bundleDir: string;
  /** The run's folder on the head. */
  dir: NodePath;
}

/** What it is made of at one moment. */
export interface Figures {
  /** Bytes in use after a collection: heap, and buffers outside of it. */
  used: number;
  /** Bytes that the system counts. */
  resident: number;
  descriptors: number;
  /** Timers, sockets and what else keeps the process alive, by kind. */
  resources: Record<string, number>;
}

export type Order =
  | { order: 'follow'; setup: Setup }
  /** Uses every kind of channel once. */
  | { order: 'use'; id: number }
  | { order: 'figures'; id: number }
  | { order: 'answer'; secret: string | undefined };

export type Report =
  | { report: 'asked'; kind: string }
  /** Twice a second. `now` is this process's time, in milliseconds. */
  | {
      report: 'state';
      connected: boolean;
      step: number;
      lines: number;
      problem: string | undefined;
      now: number;
    }
  | { report: 'used'; id: number; problem: string | undefined }
  | { report: 'figures'; id: number; figures: Figures };

const tell = (report: Report): void => {
  process.send?.(report);
};

class Client {
  private readonly waiting: ((secret: string | undefined) => void)[] = [];
  private readonly machine: SshMachine;
  private readonly feed: RunFeed;
  private lines = 0;

  constructor(private readonly setup: Setup) {
    const { profile, home, bundleDir, dir } = setup;
    const questions = new Questions({
      secret: ({ kind }) =>
        new Promise((resolve) => {
          this.waiting.push(resolve);
          tell({ report: 'asked', kind });
        }),
      trust: () => {
        tell({ report: 'asked', kind: 'host key' });
        return Promise.resolve(false);
      },
    });
    const transport = new LazyTransport(profile, { prompter: questions, home, logger: nullLogger });
    this.machine = new SshMachine({ profile, transport, questions, bundleDir });
    this.feed = new RunFeed({ dir, client: () => this.machine.node.client() });
    this.feed.onChange(() => this.lines++);
    this.feed.start();
    setInterval(() => {
      const { connection, model } = this.feed;
      const problem = this.feed.problem === undefined ? undefined : errorText(this.feed.problem);
      const step = model.metrics.lastStep?.step ?? 0;
      const connected = connection.state === 'connected' && model.details !== undefined;
      tell({ report: 'state', connected, step, lines: this.lines, problem, now: Date.now() });
    }, 500);
  }

  answer(secret: string | undefined): void {
    this.waiting.shift()?.(secret);
  }

  /** A command's channel, the set-up program's, and requests to the agent. */
  async use(): Promise<void> {
    const [head] = this.machine.nodes;
    if (!head) throw new Error('no host');
    const channel = await head.run(['true']);
    channel.stdout.resume();
    channel.stderr.resume();
    channel.stdin.end();
    await channel.closed;
    await head.look([this.setup.dir]);
    const client = await this.machine.node.client();
    await client.request('host.sample');
    await client.request('checkpoint.list', { dir: this.setup.dir });
    await client.request('run.get', { dir: this.setup.dir });
  }
}

function figures(): Figures {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const descriptors = readdirSync('/proc/self/fd').length;
  return { used: heapUsed + external, resident: rss, descriptors, resources };
}

let client: Client | undefined;
process.on('message', (order: Order) => {
  switch (order.order) {
    case 'follow':
      client = new Client(order.setup);
      break;
    case 'use': {
      const { id } = order;
      const done = (problem: string | undefined): void => {
        tell({ report: 'used', id, problem });
      };
      client?.use().then(
        () => {
          done(undefined);
        },
        (error: unknown) => {
          done(String(error));
        },
      );
      break;
    }
    case 'figures':
      tell({ report: 'figures', id: order.id, figures: figures() });
      break;
    case 'answer':
      client?.answer(order.secret);
      break;
  }
});
process.on('disconnect', () => process.exit());

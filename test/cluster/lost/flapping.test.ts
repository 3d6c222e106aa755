// Fault 2: links that are cut again and again, anywhere, while much is read through them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { RunFollower } from '../../../src/core/follow/run.js';
import { until } from '../../support/harness.js';
import { TcpProxy } from '../../sshd/support/tcpProxy.js';
import { form } from '../support/form.js';
import { practiceHosts, type FaultHosts } from '../support/hosts.js';
import { measured, seconds, startRun } from '../support/runs.js';

/** Readers of the same run, each by a link of its own: most of the time of a cut is waiting. */
const readers = 5;
const cutsEach = form(8, 200);
/** Milliseconds for all of them. */
const limit = form(150_000, 1_500_000);
const linesPerSecond = 10_000;

let hosts: FaultHosts;
const proxies: TcpProxy[] = [];
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
});
afterAll(async () => {
  await hosts.stop();
  for (const proxy of proxies) await proxy.stop();
});

/**
 * Numbered lines at a steady rate until a file appears; then the last one says how many there were.
 */
const writer = (end: string): string => `
import os, sys, time
n, begin = 0, time.monotonic()
while not os.path.exists(${JSON.stringify(end)}):
    due = int((time.monotonic() - begin) * ${linesPerSecond})
    sys.stdout.write("".join("line %d of a log that is written fast\\n" % i for i in range(n, due)))
    sys.stdout.flush()
    n = due
    time.sleep(0.02)
print("end %d" % n)
`;

/** Some fall into the login, some into the set-up of the agent, most into the log itself. */
const randomByte = (): number => Math.floor(10 ** (3.5 + Math.random() * 2.5));

class Reader {
  next = 0;
  wrong = 0;
  firstWrong = '';
  announced: number | undefined;
  cuts = 0;
  readonly ended: Promise<unknown>;
  private readonly follower: RunFollower;

  constructor(
    machine: SshMachine,
    dir: string,
    private readonly proxy: TcpProxy,
  ) {
    const log = {
      name: 'logs/rank-0.log',
      start: 0,
      onLine: ({ text }: { text: string }): void => {
        this.take(text);
      },
      onReset: (): void => {
        this.wrong++;
      },
    };
    this.follower = new RunFollower({
      dir: nodePath(dir),
      client: () => machine.node.client(),
      extras: () => [log],
    });
    this.ended = this.follower.follow();
    this.ended.catch(() => undefined); // the test waits for it at its end
  }

  /** From now on every connection is cut, until that was done often enough. */
  flap(): void {
    let made = 0;
    const count = (): void => {
      this.cuts = made;
    };
    this.proxy.faults = {
      get cutAfter(): number {
        made++;
        count();
        return made < cutsEach ? randomByte() : Infinity;
      },
    };
    this.proxy.cut(); // the first
  }

  dispose(): void {
    this.follower.dispose();
  }

  private take(text: string): void {
    if (text.startsWith('end ')) this.announced = Number(text.slice(4));
    else if (text === `line ${this.next} of a log that is written fast`) this.next++;
    else if (this.wrong++ === 0) this.firstWrong = `${text} where line ${this.next} was due`;
  }
}

test(`${readers * cutsEach} cuts at random bytes lose no line and double none, in bounded memory`, async () => {
  const end = join(hosts.homes[0]!, 'end');
  const dir = await startRun(hosts.machine(), hosts.profile, ['python3', '-c', writer(end)]);
  const [host] = hosts.profile.hosts ?? [];
  const all: Reader[] = [];
  for (let index = 0; index < readers; index++) {
    const proxy = await TcpProxy.start({ host: host!.host, port: host!.port! });
    proxies.push(proxy);
    const machine = hosts.machine({ hosts: [{ ...host!, host: '127.0.0.1', port: proxy.port }] });
    all.push(new Reader(machine, dir, proxy));
  }
  await until('the first lines', () => all.every(({ next }) => next > 1000), 30);

  const before = process.memoryUsage().rss;
  let most = 0;
  const began = Date.now();
  for (const reader of all) reader.flap();
  while (all.some(({ cuts }) => cuts < cutsEach)) {
    if (Date.now() - began > limit)
      throw new Error(`only ${all.map(({ cuts }) => cuts).join('+')} cuts in ${seconds(Date.now() - began)}`);
    most = Math.max(most, process.memoryUsage().rss - before);
    await sleep(20);
  }
  const flapped = Date.now() - began;
  writeFileSync(end, '');
  await Promise.all(all.map(({ ended }) => ended));
  for (const reader of all) reader.dispose();
  const [{ announced = 0 } = {}] = all;
  measured(
    2,
    `${all.map(({ cuts }) => cuts).join('+')} cuts in ${seconds(flapped)}: ${all.map(({ next }) => next).join(', ')} lines arrived ` +
      `of ${announced}, ${all.reduce((sum, { wrong }) => sum + wrong, 0)} wrong, resident memory grew by at most ${(most / 1e6).toFixed(0)} MB`,
  );
  expect(announced).toBeGreaterThan((flapped / 1000) * linesPerSecond * 0.9);
  for (const reader of all) {
    expect(reader).toMatchObject({ firstWrong: '', wrong: 0, announced, next: announced, cuts: cutsEach });
  }
  expect(most).toBeLessThan(200e6);
});

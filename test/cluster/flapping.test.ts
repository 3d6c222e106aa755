// Fault 2: a link that is cut again and again, anywhere, while much is read through it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunFollower } from '../../src/core/runs/run.js';
import { until } from '../local/harness.js';
import { TcpProxy } from '../sshd/tcpProxy.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { measured, seconds, startRun } from './support/runs.js';

const cuts = 100;
const linesPerSecond = 10_000;

let proxy: TcpProxy;
let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({
    nodes: 1,
    throughPort: async (target) => {
      proxy = await TcpProxy.start(target);
      return proxy.port;
    },
  });
});
afterAll(async () => {
  await hosts.stop();
  await proxy.stop();
});

/** Numbered lines at a steady rate until a file appears; then the last one says how many there were. */
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

test(`${cuts} cuts at random bytes lose no line and double none, in bounded memory`, async () => {
  const machine = hosts.machine();
  const end = join(hosts.homes[0]!, 'end');
  const dir = await startRun(machine, hosts.profile, ['python3', '-c', writer(end)]);
  let next = 0;
  let wrong = 0;
  let firstWrong = '';
  let announced: number | undefined;
  const follower = new RunFollower({
    dir,
    client: () => machine.node.client(),
    extras: () => [
      {
        name: 'logs/rank-0.log',
        start: 0,
        onLine: ({ text }) => {
          if (text.startsWith('end ')) announced = Number(text.slice(4));
          else if (text === `line ${next} of a log that is written fast`) next++;
          else if (wrong++ === 0) firstWrong = `${text} where line ${next} was due`;
        },
        onReset: () => {
          wrong++;
        },
      },
    ],
  });
  const followed = follower.follow();
  followed.catch(() => undefined); // awaited below
  await until('the first lines', () => next > 1000, 20);

  const began = Date.now();
  let made = 0;
  let most = 0;
  const before = process.memoryUsage().rss;
  proxy.faults = {
    get cutAfter(): number {
      made++;
      return made < cuts ? randomByte() : Infinity;
    },
  };
  proxy.cut();
  while (made <= cuts - 1 || next === 0) {
    if (Date.now() - began > 150_000) throw new Error(`only ${made} cuts in ${seconds(Date.now() - began)}`);
    most = Math.max(most, process.memoryUsage().rss - before);
    await sleep(20);
  }
  const flapped = Date.now() - began;
  writeFileSync(end, '');
  await followed;
  follower.dispose();
  measured(
    2,
    `${made} cuts in ${seconds(flapped)}: ${next} lines arrived of ${announced ?? 0}, ${wrong} wrong, ` +
      `resident memory grew by at most ${(most / 1e6).toFixed(0)} MB`,
  );
  expect(firstWrong).toBe('');
  expect(announced).toBeGreaterThan((flapped / 1000) * linesPerSecond * 0.9);
  expect(next).toBe(announced);
  expect(most).toBeLessThan(200e6);
  // What was compared is what the run has written.
  expect(readFileSync(join(dir, 'logs/rank-0.log'), 'utf8').split('\n').length).toBeGreaterThan(next);
});

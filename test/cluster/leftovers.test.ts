// Fault 6: workers that hide from their run, and outlive all that watched over it, on two nodes.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli, until } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { measured, seconds, startRun } from './support/runs.js';

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
});
afterAll(() => hosts.stop());

/**
 * Each rank leaves two workers behind that left its session: one is deaf to every signal that can
 * be, one is stopped.
 */
const program = `
import os, signal, sys, time
def leave(kind):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    open(os.path.join(os.environ["HOME"], "worker-%s-%d" % (kind, os.getpid())), "w").close()
    if kind == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(1)
leave("deaf")
leave("stopped")
time.sleep(3600)
`;

const workersOf = (home: string): number[] =>
  readdirSync(home).flatMap((name) => {
    const pid = /^worker-.*-(\d+)$/.exec(name)?.[1];
    return pid === undefined ? [] : [Number(pid)];
  });

/** The letter of /proc/PID/stat; undefined when it is gone. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2];
  } catch {
    return undefined;
  }
}
const isAlive = (pid: number): boolean => ![undefined, 'Z', 'X'].includes(stateOf(pid));

function agentsOf(dir: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return command.includes('/bin/agent\0') && command.includes(dir.split('/').at(-1)!)
        ? [Number(name)]
        : [];
    } catch {
      return []; // gone meanwhile
    }
  });
}

interface Reported {
  host: string;
  pid: number;
  state: string;
}

test('kill-leftovers ends them on every node within 15 s, names them, and touches nobody else', async () => {
  const dir = await startRun(hosts.machine(), hosts.profile, ['python3', '-c', program], { ranks: 2 });
  await until(
    'two workers on each node',
    () => hosts.homes.every((home) => workersOf(home).length === 2),
    30,
  );
  const workers = hosts.homes.map(workersOf);
  await until(
    'the stopped ones',
    () => workers.every((pids) => pids.some((pid) => stateOf(pid) === 'T')),
    10,
  );

  // All that would end them goes: supervisor, guard, joins, wrappers. Stopped first, so that none
  // acts on another's end.
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
    for (const pid of agentsOf(dir)) {
      try {
        process.kill(pid, signal);
      } catch {
        // it went with another one
      }
    }
  }
  await until('the agents to be gone', () => agentsOf(dir).length === 0, 10);
  // A bystander that was given the pid of a rank of the run: recorded there, with another start
  // time.
  const bystander = spawn('python3', ['-c', 'import time\ntime.sleep(3600)'], {
    stdio: 'ignore',
    detached: true,
  });
  const [record] = readdirSync(join(dir, 'processes'));
  const path = join(dir, 'processes', record!);
  const recorded = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...recorded, pid: bystander.pid }));
  try {
    expect(workers.flat().filter(isAlive)).toHaveLength(4);
    const cli = (...words: string[]): ReturnType<typeof runCli> =>
      runCli(['--json', 'kill-leftovers', hosts.profile.name, ...words], {
        env: { TRAINYARD_HOME: hosts.trainyardHome },
      });
    const reported = (text: string): Reported[] =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Reported);
    const listed = reported((await cli('--list')).stdout);
    // What ends runs under way, or deletes them, asks, and here nobody can answer.
    const unasked = await cli('--all');
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
    const uncleaned = await runCli(['clean', hosts.profile.name, '--runs'], {
      env: { TRAINYARD_HOME: hosts.trainyardHome },
    });
    expect(uncleaned.code).toBe(2);
    expect(uncleaned.stderr).toContain(`nothing of ${hosts.profile.name} was removed`);
    expect(workers.flat().filter(isAlive)).toHaveLength(4);

    const began = Date.now();
    const outcome = await cli();
    const took = Date.now() - began;
    expect(outcome.code).toBe(0);
    const killed = reported(outcome.stdout);
    expect(workers.flat().filter(isAlive)).toEqual([]);
    for (const [index, pids] of workers.entries()) {
      const host = hosts.profile.hosts?.[index]?.host;
      const named = killed.filter((one) => one.host === host && one.state === 'killed').map(({ pid }) => pid);
      expect(named).toEqual(expect.arrayContaining(pids));
      expect(listed.filter((one) => one.host === host).map(({ pid }) => pid)).toEqual(
        expect.arrayContaining(pids),
      );
    }
    expect(killed.map(({ pid }) => pid)).not.toContain(bystander.pid);
    expect(isAlive(bystander.pid!)).toBe(true);
    expect(reported((await cli()).stdout)).toEqual([]);
    measured(6, `${killed.length} processes on 2 nodes ended in ${seconds(took)}, the bystander untouched`);
    expect(took).toBeLessThan(15_000);
  } finally {
    bystander.kill('SIGKILL');
  }
});

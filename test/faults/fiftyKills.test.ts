// Fault 9: a run over two nodes is killed fifty times at random steps, a rank of it, all ranks,
// mpiexec or its supervisor, and goes on or is started again each time. It ends with the same
// weights and optimizer, bit for bit, as a run left alone.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodePath } from '../../src/core/base/nodePath.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { practiceHosts, type FaultHosts } from '../cluster/support/hosts.js';
import {
  detailsOf,
  eventsOf,
  linesOf,
  measured,
  seconds,
  startRun,
  stateOf,
  untilOver,
} from '../cluster/support/runs.js';
import { expectExit, fingerprint, runTrainer, until } from '../support/harness.js';

const kills = Number(process.env['TRAINYARD_KILLS'] ?? 50);
const seed = Number(process.env['TRAINYARD_SEED'] ?? Date.now() % 1_000_000);
/** Steps between two kills, of which the last few are for a machine that is slow to kill. */
const apart = 10;
const steps = (kills + 3) * apart;
const victims = ['rank', 'all ranks', 'mpiexec', 'supervisor'] as const;
type Victim = (typeof victims)[number];

/** Numbers from 0 to 1 that a seed gives again (mulberry32). */
function numbersFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

let hosts: FaultHosts;
let machine: SshMachine;
let profile: Profile;
let data: string;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
  machine = hosts.machine();
  profile = { ...hosts.profile, maxRestarts: 2 * kills };
  data = join(hosts.homes[0] ?? '', 'data');
  const prep = ['prep', '--from', 'demo:3x80', '--to', data, '--validation', '0.1'];
  expectExit(await runTrainer(prep), 0);
});
afterAll(() => hosts.stop());

const words = (): string[] => [
  ...['train', '--model', 'resnet20', '--data', join(data, 'train'), '--batch-size', '12', '--threads', '1'],
  ...['--steps', String(steps), '--warmup-epochs', '2', '--lr', '0.05'],
  ...['--checkpoint-every', '4', '--keep', '3', '--log-every', '1'],
];

/** Children of a process whose program has this name. */
function childrenOf(parent: number, program: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const of = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const isIt = command.some((word) => word.split('/').at(-1) === program);
      return of === parent && isIt ? [Number(name)] : [];
    } catch {
      return []; // gone meanwhile
    }
  });
}

function pidsOf(dir: string, victim: Victim, random: () => number): number[] {
  const state = stateOf(dir);
  if (!state) return [];
  const ranks = state.ranks.map(({ pid }) => pid);
  if (victim === 'rank') return ranks.slice(Math.floor(random() * ranks.length)).slice(0, 1);
  if (victim === 'all ranks') return ranks;
  if (victim === 'mpiexec')
    return childrenOf(state.supervisor.pid, 'mpiexec.hydra')
      .concat(childrenOf(state.supervisor.pid, 'mpiexec'))
      .slice(0, 1);
  return [state.supervisor.pid];
}

const newestStep = (dir: string, from: number): number =>
  Number(
    linesOf(dir, 'metrics.jsonl')
      .slice(from)
      .findLast(({ kind }) => kind === 'step')?.['step'] ?? 0,
  );

/** Kills all of these at once; false when one had ended before. */
function killAll(pids: readonly number[]): boolean {
  let all = pids.length > 0;
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      all = false;
    }
  }
  return all;
}

test(`${kills} kills at random steps: the same SHA-256 as a run left alone (TRAINYARD_SEED=${seed})`, async () => {
  process.stdout.write(`fault 9: TRAINYARD_SEED=${seed}\n`);
  const random = numbersFrom(seed);
  const alone = await startRun(machine, profile, words());
  expect((await untilOver(machine, alone, 1200)).state?.phase).toBe('finished');
  const expected = fingerprint(alone, steps);

  const began = Date.now();
  const runDir = join(hosts.homes[0] ?? '', '.trainyard/runs', 'killed');
  await startRun(machine, profile, words(), { runDir: nodePath(runDir) });
  const made: { victim: Victim; step: number }[] = [];
  while (made.length < kills) {
    const victim = victims[Math.floor(random() * victims.length)] ?? 'rank';
    const at = made.length * apart + 1 + Math.floor(random() * (apart - 2));
    const before = made.length === 0 ? 0 : linesOf(runDir, 'metrics.jsonl').length;
    const step = await until(
      `step ${at} before kill ${made.length + 1} (${victim}) of ${JSON.stringify(made.slice(-5))}; ${JSON.stringify(stateOf(runDir))}`,
      () => newestStep(runDir, before) >= at && newestStep(runDir, before),
      240,
    );
    if (stateOf(runDir)?.phase === 'finished') throw new Error(`it was over after ${made.length} kills`);
    if (!killAll(pidsOf(runDir, victim, random))) continue; // it had just ended by itself
    made.push({ victim, step });
    if (victim !== 'supervisor') continue;
    for (const deadline = Date.now() + 60_000; !(await detailsOf(machine, nodePath(runDir))).interrupted;)
      if (Date.now() > deadline) throw new Error('the run does not read as interrupted');
    await startRun(machine, profile, words(), { runDir: nodePath(runDir) });
  }
  const { state } = await untilOver(machine, nodePath(runDir), 600);
  expect(state?.reason ?? '').toBe('');
  expect(state?.phase).toBe('finished');
  const counts = victims.map((victim) => `${victim} ${made.filter((kill) => kill.victim === victim).length}`);
  measured(
    9,
    `seed ${seed}: ${made.length} kills (${counts.join(', ')}) at steps ${made.map(({ step }) => step).join(' ')} of ${steps} in ` +
      `${seconds(Date.now() - began)}, ${eventsOf(runDir).filter(({ kind }) => kind === 'restarting').length} restarts`,
  );
  expect(fingerprint(runDir, steps), JSON.stringify(made)).toBe(expected);
});

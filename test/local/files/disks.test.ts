// Disks that fail in mid-run, for real: a small tmpfs that fills, and a run folder that becomes
// read-only, both until they work again. The trainer alone, and whole runs under the agent's
// supervisor.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  expectExit,
  mpiexec,
  readLines,
  readLinesSoFar,
  start,
  temporaryFolder,
  trainer,
  until,
} from '../../support/harness.js';
import type { Running } from '../../support/harness.js';

const agent = join(dirname(trainer), 'agent');

const mount = (...args: string[]): boolean => spawnSync('mount', args).status === 0;
const unmount = (path: string): boolean => spawnSync('umount', [path]).status === 0;
/** Both are refused (EBUSY) while a process has a file of the mount open, which lasts a moment. */
const once = (what: string, done: () => boolean): Promise<unknown> => until(what, done, 30);

const folder = temporaryFolder('disks');
const disk = join(folder.path, 'disk');
mkdirSync(disk);
const unavailable =
  process.getuid?.() !== 0
    ? 'mounting needs root'
    : mount('-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk)
      ? undefined
      : 'tmpfs cannot be mounted here';

interface Fault {
  name: string;
  begin(run: string): Promise<unknown>;
  end(run: string): Promise<unknown>;
}
const filler = join(disk, 'filler');
const faults: Fault[] = [
  {
    name: 'full',
    begin: () => {
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { stdio: 'ignore' });
      // What is left of the last page goes byte by byte.
      spawnSync('dd', ['if=/dev/zero', `of=${filler}2`, 'bs=1'], { stdio: 'ignore' });
      return Promise.resolve();
    },
    end: () => {
      for (const file of [filler, `${filler}2`]) rmSync(file, { force: true });
      return Promise.resolve();
    },
  },
  {
    name: 'read-only',
    begin: (run) => {
      expect(mount('--bind', run, run)).toBe(true);
      return once('the mount to become read-only', () => mount('-o', 'remount,bind,ro', run));
    },
    end: (run) => once('the mount to go', () => unmount(run)),
  },
];

const training = (...more: string[]): string[] => [
  ...['train', '--model', 'resnet20', '--data', 'synthetic', '--batch-size', '4', '--log-every', '1'],
  ...more,
];
const stepsIn = (dir: string): number[] =>
  readLinesSoFar(join(dir, 'metrics.jsonl'))
    .filter(({ kind }) => kind === 'step')
    .map(({ step }) => Number(step));
const beatOf = (dir: string): number =>
  (JSON.parse(readFileSync(join(dir, 'heartbeats/rank-0'), 'utf8')) as { step: number }).step;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Enough that the fault comes before the end, however fast the machine. */
const steps = 120;

/** A run folder with the run.json of so many steps. */
function runFolder(dir: string): void {
  mkdirSync(dir);
  const spec = {
    version: 1,
    id: 'disks',
    created: Date.now() / 1000,
    profile: { name: 'local', kind: 'local' },
    program: 'trainer',
    argv: training('--steps', String(steps), '--checkpoint-every', '1000'),
    ranks: 1,
    threadsPerRank: 1,
    gpus: null,
    env: {},
    evaluator: null,
    tensorboard: false,
    paths: { trainer, mpiexec, agent, python: '/usr/bin/python3', tensorboardServer: '/nowhere' },
    hashes: { trainer: '', agent: '', requirements: '' },
    limits: { hangTimeout: 300, startTimeout: 120, maxRestarts: 0 },
    launcher: 'fork',
    totalSteps: null,
  };
  writeFileSync(join(dir, 'run.json'), JSON.stringify(spec));
}
const trainerOf = (dir: string): number =>
  (JSON.parse(readFileSync(join(dir, 'processes/gen-1-rank-0.json'), 'utf8')) as { pid: number }).pid;

let running: Running | undefined;
let faulty: [Fault, string] | undefined;
afterEach(async () => {
  if (faulty) await faulty[0].end(faulty[1]);
  faulty = undefined;
  if (running?.child.exitCode === null) running.child.kill('SIGKILL');
  await running?.ended;
  running = undefined;
  if (unavailable === undefined) spawnSync('rm', ['-rf', join(disk, 'run')]);
});
afterAll(() => {
  if (unavailable === undefined) unmount(disk);
  folder.remove();
});

async function begin(fault: Fault, dir: string): Promise<void> {
  faulty = [fault, dir];
  await fault.begin(dir);
}
async function end(fault: Fault, dir: string): Promise<void> {
  await fault.end(dir);
  faulty = undefined;
}

describe.skipIf(unavailable !== undefined)(
  `a disk that fails in mid-run (${unavailable ?? 'mounted'})`,
  () => {
    test.each(faults)(
      '$name: the trainer goes on, and no step is missing from the metrics',
      async (fault) => {
        const dir = join(disk, 'run');
        running = start(trainer, training('--epochs', '1000', '--checkpoint-every', '25', '--run-dir', dir));
        const { child } = running;
        await until('15 steps', () => existsSync(join(dir, 'metrics.jsonl')) && stepsIn(dir).length >= 15);
        await begin(fault, dir);
        await until('the warning', () => running?.stderr.includes('metrics are not being recorded'));
        const from = beatOf(dir);
        await until('40 steps meanwhile, a checkpoint among them', () => beatOf(dir) > from + 40, 120);
        expect(stepsIn(dir).at(-1)).toBeLessThan(from + 2);
        await end(fault, dir);
        await until('the steps in the file', () => stepsIn(dir).length > from + 40, 120);
        child.kill('SIGTERM');
        const outcome = await running.ended;
        expectExit(outcome, 75);
        const lines = readLines(join(dir, 'metrics.jsonl')); // each is read as JSON
        expect(lines[0]?.kind).toBe('start');
        expect(lines.at(-1)?.kind).toBe('end');
        expect(lines.some(({ kind }) => kind === 'checkpoint_failed')).toBe(true);
        expect(lines.some(({ kind }) => kind === 'gap')).toBe(false);
        expect(stepsIn(dir)).toEqual(upTo(Number(lines.at(-1)?.['step'])));
        expect(outcome.stderr).toContain('metrics are recorded again');
      },
    );

    test.each(faults)('$name as a run ends under the supervisor: it says how, once it can', async (fault) => {
      const dir = join(disk, 'run');
      runFolder(dir);
      running = start(agent, ['supervise', '--run-dir', dir]);
      await until('15 steps', () => existsSync(join(dir, 'metrics.jsonl')) && stepsIn(dir).length >= 15);
      const pid = trainerOf(dir);
      await begin(fault, dir);
      await until('the trainer to end', () => !existsSync(`/proc/${pid}`), 120);
      expect(beatOf(dir)).toBe(steps);
      expect(running.child.exitCode).toBe(null);
      await end(fault, dir);
      const outcome = await running.ended;
      expect(outcome.code, outcome.stderr).toBe(3);
      const state = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as Record<string, unknown>;
      expect(state).toMatchObject({ phase: 'failed', exitCode: 3 });
      // The rank's log lies on the same disk: a full one took none of the words.
      const words = `the last checkpoint (step ${steps}) could not be written`;
      expect(state['reason']).toContain(
        fault.name === 'full' ? `exited with code 3 at step ${steps}` : words,
      );
      const events = readLines(join(dir, 'events.jsonl')).map(({ kind }) => kind);
      expect(events.at(-1)).toBe('finished');
      expect(events).toContain('rank_exited');
    });
  },
);

test('state.json that cannot be written as a run ends: the supervisor waits until it can', async () => {
  const dir = join(folder.path, 'waits');
  runFolder(dir);
  running = start(agent, ['supervise', '--run-dir', dir]);
  await until('5 steps', () => existsSync(join(dir, 'metrics.jsonl')) && stepsIn(dir).length >= 5);
  const inTheWay = join(dir, `state.json.tmp-${running.child.pid}`);
  mkdirSync(inTheWay);
  await until('the end', () => running?.stderr.includes('warning: state.json not written'), 120);
  await until('the journal', () => readLinesSoFar(join(dir, 'events.jsonl')).at(-1)?.kind === 'finished');
  expect(running.child.exitCode).toBe(null);
  rmdirSync(inTheWay);
  expectExit(await running.ended, 0);
  const state = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as Record<string, unknown>;
  expect(state).toMatchObject({ phase: 'finished', exitCode: 0 });
});

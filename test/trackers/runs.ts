// Runs that are exported, and what their own files say of them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLinesSoFar } from '../support/harness.js';

/** The command line of a training of `steps` steps in `dir`. */
export function train(dir: string, steps: number, ...more: string[]): string[] {
  const words = ['--model', 'mlp', '--data', 'synthetic', '--steps', String(steps), '--log-every', '5'];
  return ['run', 'local', '--run-dir', dir, '--ranks', '2', ...more, '--', 'train', ...words];
}

/** The same on a profile whose runs restart once by themselves, from their newest checkpoint. */
export function trainAgain(dir: string, steps: number, ...more: string[]): string[] {
  const words = train(dir, steps, ...more).map((word) => (word === 'local' ? 'again' : word));
  return [...words, '--checkpoint-every', '400'];
}
/** Adds that profile to those of `home`. */
export function addAgain(home: string): void {
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'again', kind: 'local', maxRestarts: 1 }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
}

const standIn = join(import.meta.dirname, '../../build/native/release/tests/agent/nvml');
/** Whether the stand-in for NVIDIA's NVML was built. */
export const hasGpuStandIn = existsSync(join(standIn, 'libnvidia-ml.so.1'));
/** The environment of a run on a machine whose two GPUs are those of the stand-in. */
export function simulatedGpus(folder: string): Record<string, string> {
  const script = join(folder, 'nvml');
  writeFileSync(script, 'gpus 2\n');
  const locks = join(folder, 'locks');
  return { LD_LIBRARY_PATH: standIn, NVML_STAND_IN: script, TRAINYARD_GPU_LOCKS: locks };
}

/** The command line of an own program that waits, and reports three values of `loss`. */
export const ownProgram = (dir: string, seconds = 0): string[] => [
  ...['run', 'local', '--run-dir', dir, '--', 'sh', '-c'],
  `sleep ${seconds}; for i in 1 2 3; do echo "{\\"step\\":$i,\\"loss\\":0.$i}" >> "$TRAINYARD_RUN_DIR/metrics.jsonl"; done`,
];
/** What it reports. */
export const ownValues: [number, number][] = [
  [1, 0.1],
  [2, 0.2],
  [3, 0.3],
];

export const idOf = (dir: string): string =>
  (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { id: string }).id;

/** How often the training was started. */
export const startsOf = (dir: string): number =>
  readLinesSoFar(join(dir, 'metrics.jsonl')).filter(({ kind }) => kind === 'start').length;

/** The newest step in the file. */
export const stepsOf = (dir: string): number => {
  try {
    return Number(/.*"step":(\d+)/s.exec(readFileSync(join(dir, 'metrics.jsonl'), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0; // not there yet
  }
};

/**
 * Whether a run that saves every 400 steps is well behind its newest checkpoint: one that is killed
 * now repeats steps which it has written.
 */
export const isBetweenCheckpoints = (dir: string): boolean => {
  const since = stepsOf(dir) % 400;
  return since > 50 && since < 300;
};

/** The process of a rank. */
export function pidOf(dir: string, rank: number): number {
  const { ranks } = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as {
    ranks: { pid: number }[];
  };
  const pid = ranks[rank]?.pid;
  if (pid === undefined) throw new Error(`rank ${rank} has no process`);
  return pid;
}

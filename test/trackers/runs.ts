// Runs that are exported, and what their own files say of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLines, readLinesSoFar } from '../support/harness.js';

/** The command line of a training of `steps` steps in `dir`. */
export function train(dir: string, steps: number, ...more: string[]): string[] {
  const words = ['--model', 'mlp', '--data', 'synthetic', '--steps', String(steps), '--log-every', '5'];
  return ['run', 'local', '--run-dir', dir, '--ranks', '2', ...more, '--', 'train', ...words];
}

/** The command line of an own program that reports three values of `loss`. */
export const ownProgram = (dir: string): string[] => [
  ...['run', 'local', '--run-dir', dir, '--', 'sh', '-c'],
  'for i in 1 2 3; do echo "{\\"step\\":$i,\\"loss\\":0.$i}" >> "$TRAINYARD_RUN_DIR/metrics.jsonl"; done',
];
/** What it reports. */
export const ownValues: [number, number][] = [
  [1, 0.1],
  [2, 0.2],
  [3, 0.3],
];

export const idOf = (dir: string): string =>
  (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { id: string }).id;

/** Of each step the last value in the file: the runs here repeat only steps after a restart. */
export function standing(dir: string, kind: string, field: string): [number, number][] {
  const values = new Map<number, number>();
  for (const line of readLines(join(dir, 'metrics.jsonl'))) {
    if (line.kind === kind) values.set(Number(line['step']), Number(line[field]));
  }
  return [...values].sort(([a], [b]) => a - b);
}

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

/** The process of a rank. */
export function pidOf(dir: string, rank: number): number {
  const { ranks } = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as {
    ranks: { pid: number }[];
  };
  const pid = ranks[rank]?.pid;
  if (pid === undefined) throw new Error(`rank ${rank} has no process`);
  return pid;
}

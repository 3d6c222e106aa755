// The evaluator looks often, and reads a checkpoint only when it has not evaluated it.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  readLinesSoFar,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('evaluator-reads');
afterAll(folder.remove);
const data = ['--data', 'synthetic:2x8'];

const training = (dir: string, steps: number): string[] => [
  ...['train', '--model', 'resnet20', ...data, '--batch-size', '2', '--run-dir', dir],
  ...['--steps', String(steps), '--checkpoint-every', '1'],
];
const evaluated = (dir: string): unknown[] =>
  readLinesSoFar(join(dir, 'metrics.jsonl')).flatMap((line) => (line.kind === 'eval' ? line['step'] : []));
/** Bytes that a process has read so far, by any read call. */
const bytesRead = (pid: number): number =>
  Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

it('a checkpoint that was evaluated is not read again', { timeout: 180_000 }, async () => {
  const dir = join(folder.path, 'run');
  expectExit(await runTrainer(training(dir, 1)), 0);
  const size = statSync(join(dir, 'checkpoints', checkpointName(1), 'model.safetensors')).size;
  expect(size).toBeGreaterThan(1e6);
  const evaluator = start(trainer, ['eval', '--run-dir', dir, ...data, '--interval', '0.05', '--delay', '0']);
  const pid = evaluator.child.pid ?? 0;
  await until('the first evaluation', () => evaluated(dir).length === 1, 90);
  const before = bytesRead(pid);
  await sleep(3000); // time for some sixty looks: the more there are, the more a wrong one reads
  expect(bytesRead(pid) - before).toBeLessThan(size);
  expectExit(await runTrainer(training(dir, 2)), 0);
  await until('the second evaluation', () => evaluated(dir).includes(2), 90); // it did look
  evaluator.child.kill('SIGTERM');
  expectExit(await evaluator.ended, 0);
  expect(evaluated(dir)).toEqual([1, 2]);
});

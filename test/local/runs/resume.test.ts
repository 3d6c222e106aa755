// A run that was killed and resumed ends with the same weights, bit for bit, as one left alone.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectExit,
  lastOnly,
  fingerprint,
  killRanksAt,
  readLines,
  runRanks,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';
import { form } from '../../cluster/support/form.js';

const folder = temporaryFolder('resume');
const data = join(folder.path, 'data');
const steps = 60;
const warmupSteps = 18;
/** Each has five kills. */
const rounds = form(2, 4);

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:3x80', '--to', data, '--validation', '0.1']), 0);
});
afterAll(folder.remove);

const training = (dir: string): string[] => [
  'train',
  '--model',
  'resnet20',
  '--data',
  join(data, 'train'),
  '--run-dir',
  dir,
  '--batch-size',
  '12',
  '--steps',
  String(steps),
  '--warmup-epochs',
  '2',
  '--lr',
  '0.05',
  '--checkpoint-every',
  '4',
  '--log-every',
  '1',
  '--keep',
  '2',
];

describe('kill and resume', () => {
  it(
    `${rounds * 5} kills at random steps of both schedule phases: the same SHA-256 as a run left alone`,
    { timeout: 300_000 },
    async () => {
      const alone = join(folder.path, 'alone');
      expectExit(await runRanks(2, training(alone)), 0);
      const expected = fingerprint(alone, steps);
      const plan = readLines(join(alone, 'metrics.jsonl')).find((line) => line.kind === 'start');
      expect(plan).toMatchObject({ steps_per_epoch: 9, total_steps: steps, world: 2 });

      const kills: number[] = [];
      for (let round = 0; round < rounds; ++round) {
        const dir = join(folder.path, `round-${round}`);
        // Five rising random steps a round, one in each fifth of the run: two of them fall into the
        // warm-up.
        for (let part = 0; part < 5; ++part) {
          const at = 1 + part * 11 + Math.floor(Math.random() * 10);
          await killRanksAt(2, training(dir), dir, at);
          kills.push(at);
        }
        expectExit(await runRanks(2, training(dir)), 0);
        expect(fingerprint(dir, steps), `killed at ${kills.slice(-5).join(', ')}`).toBe(expected);
        const starts = readLines(join(dir, 'metrics.jsonl')).filter((line) => line.kind === 'start');
        expect(starts.some((line) => line['resumed_from'] !== null)).toBe(true);
      }
      expect(kills).toHaveLength(rounds * 5);
      expect(kills.some((at) => at < warmupSteps) && kills.some((at) => at > warmupSteps)).toBe(true);
    },
  );

  it('another seed gives other weights', async () => {
    const dir = join(folder.path, 'seed');
    expectExit(await runRanks(2, lastOnly([...training(dir), '--seed', '2'])), 0);
    expect(fingerprint(dir, steps)).not.toBe(fingerprint(join(folder.path, 'alone'), steps));
  });
});

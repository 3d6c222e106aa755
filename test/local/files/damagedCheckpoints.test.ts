// Damage of checkpoints is named: which were passed over and why, and no run begins anew in
// silence.
import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { expectExit, readLines, runTrainer, temporaryFolder } from '../../support/harness.js';

const folder = temporaryFolder('damaged-checkpoints');
afterAll(folder.remove);

const training = (dir: string, steps: number, ...more: string[]): string[] => [
  ...['train', '--model', 'mlp', '--data', 'synthetic:2x8', '--image-size', '8', '--batch-size', '4'],
  ...['--run-dir', dir, '--steps', String(steps), '--checkpoint-every', '10', ...more],
];
const weights = (dir: string, step: number): string =>
  join(dir, 'checkpoints', `step-${String(step).padStart(8, '0')}`, 'model.safetensors');
const startsOf = (dir: string): unknown[] =>
  readLines(join(dir, 'metrics.jsonl')).flatMap((line) =>
    line.kind === 'start' ? line['resumed_from'] : [],
  );

it(
  'the newest is damaged: it is named, and the one before is gone on from',
  { timeout: 120_000 },
  async () => {
    const dir = join(folder.path, 'newest');
    expectExit(await runTrainer(training(dir, 20)), 0);
    truncateSync(weights(dir, 20), 100);
    const resumed = await runTrainer(training(dir, 30));
    expectExit(resumed, 0);
    const reason = /step-00000020\/model\.safetensors is damaged: it has 100 bytes, not \d+/;
    expect(resumed.stderr).toMatch(/trainer: warning: the checkpoint of step 20 was passed over: /);
    expect(resumed.stderr).toMatch(reason);
    expect(startsOf(dir)).toEqual([null, 'step-00000010']);
    const said = readLines(join(dir, 'metrics.jsonl')).filter(
      (line) => line.kind === 'checkpoint_passed_over',
    );
    expect(said).toMatchObject([
      { step: 20, path: 'checkpoints/step-00000020', reason: expect.stringMatching(reason) as string },
    ]);
  },
);

it(
  'all are damaged: refused and nothing touched, until a whole one is back or --resume none is said',
  { timeout: 120_000 },
  async () => {
    const dir = join(folder.path, 'all');
    expectExit(await runTrainer(training(dir, 20)), 0);
    for (const step of [10, 20]) truncateSync(weights(dir, step), 100);
    const before = readFileSync(join(dir, 'metrics.jsonl'), 'utf8');
    const refused = await runTrainer(training(dir, 30));
    expectExit(refused, 3);
    expect(refused.stderr).toMatch(
      /error: none of the 2 checkpoints in .* is valid \(.*step-00000020.*; .*step-00000010.*\)\. .*--resume none/,
    );
    expect(readFileSync(join(dir, 'metrics.jsonl'), 'utf8')).toBe(before);
    expect(existsSync(weights(dir, 10)) && existsSync(weights(dir, 20))).toBe(true);

    const anew = await runTrainer(training(dir, 10, '--resume', 'none'));
    expectExit(anew, 0);
    expect(startsOf(dir)).toEqual([null, null]);
    expect(anew.stderr).toContain('the checkpoint of step 20 was passed over');
    expectExit(await runTrainer(['checkpoints', 'verify', '--run-dir', dir]), 3); // that of step 20 is damaged still
    expect(readdirSync(join(dir, 'checkpoints'))).toContain('step-00000010');
    // One that is valid now stands there: two histories never mix.
    expectExit(await runTrainer(training(dir, 20, '--resume', 'none')), 2);
  },
);

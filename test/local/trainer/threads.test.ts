// Variables of OpenMP that leave a program fewer threads than it asks for: nothing of a loop may be
// left out by them.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { expectExit, fingerprint, runTrainer, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('threads');
afterAll(folder.remove);

const steps = 3;
const words = (model: string, threads: number, dir: string): string[] => [
  ...['train', '--model', model, '--data', 'synthetic:4x32', '--batch-size', '16', '--seed', '7'],
  ...['--steps', String(steps), '--log-every', '1', '--checkpoint-every', String(steps)],
  ...['--threads', String(threads), '--run-dir', dir],
];

async function weights(
  model: string,
  threads: number,
  env: NodeJS.ProcessEnv = {},
): Promise<{ sha256: string; outcome: Outcome }> {
  const dir = mkdtempSync(join(folder.path, 'run-'));
  // One that never ends must not outlive its test.
  const outcome = await runTrainer(words(model, threads, dir), {
    env: { OMP_WAIT_POLICY: 'passive', ...env },
    timeout: 150_000,
    killSignal: 'SIGKILL',
  });
  expectExit(outcome, 0);
  return { sha256: fingerprint(dir, steps), outcome };
}

describe.each(['mlp', 'resnet20'])('%s on two threads', (model) => {
  test.each([
    ['OMP_THREAD_LIMIT', '1', 1, '2 threads are asked for and OMP_THREAD_LIMIT=1 allows 1, which are used'],
    ['OMP_DYNAMIC', 'true', 2, 'OMP_DYNAMIC=true is not followed: the number of threads stays 2'],
    [
      'OMP_MAX_ACTIVE_LEVELS',
      '0',
      2,
      'OMP_MAX_ACTIVE_LEVELS=0 is not followed: the number of threads stays 2',
    ],
  ])('%s=%s: the weights of %i undisturbed, and a warning', async (name, value, threads, said) => {
    const undisturbed = await weights(model, threads);
    expect(undisturbed.outcome.stderr).not.toContain('threads');
    const { sha256, outcome } = await weights(model, 2, { [name]: value });
    expect(sha256).toBe(undisturbed.sha256);
    expect(outcome.stderr).toContain(`trainer: warning: ${said}`);
  });
});

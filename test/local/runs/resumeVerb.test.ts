// `trainyard resume`: a run that ended early goes on in its folder with the command that it had.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectExit,
  processesNaming,
  readLines,
  readLinesSoFar,
  runCli,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('resume-verb');
beforeAll(async () => {
  expectExit(await runCli(['runtime']), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

it('starts a program that failed again, and refuses one that has finished', async () => {
  const dir = join(folder.path, 'own');
  const script = 'cd "$TRAINYARD_RUN_DIR"; test -e tried || { touch tried; exit 3; }; echo went on';
  expectExit(await runCli(['run', 'local', '--run-dir', dir, '--', 'sh', '-c', script]), 5);
  const resumed = await runCli(['resume', dir]);
  expectExit(resumed, 0);
  expect(resumed.stdout).toContain('went on');
  const again = await runCli(['resume', dir]);
  expectExit(again, 2);
  expect(again.stderr).toContain('has finished: nothing is left to do');
});

it('goes on from the newest checkpoint of a training that was stopped, with other ranks too', async () => {
  const dir = join(folder.path, 'training');
  const train = ['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1', '--steps', '4000'];
  const flags = ['--checkpoint-every', '20'];
  expectExit(
    await runCli(['run', 'local', '--detach', '--ranks', '2', '--run-dir', dir, '--', ...train, ...flags]),
    0,
  );
  const metrics = join(dir, 'metrics.jsonl');
  await until(
    'a checkpoint',
    () => existsSync(metrics) && readLinesSoFar(metrics).some(({ kind }) => kind === 'checkpoint'),
  );
  const early = await runCli(['resume', dir]);
  expectExit(early, 2);
  expect(early.stderr).toContain('there is nothing to resume');
  expectExit(await runCli(['stop', dir]), 0);
  expectExit(await runCli(['resume', dir, '--detach', '--ranks', '1']), 0);
  await until('steps of the second start', () =>
    readLinesSoFar(metrics).some((line) => line.kind === 'step' && line['generation'] === 2),
  );
  expectExit(await runCli(['stop', dir, '--now']), 0);
  const starts = readLines(metrics).filter(({ kind }) => kind === 'start');
  expect(starts.map((line) => line['resumed_from'] !== null)).toEqual([false, true]);
  expect(starts.map((line) => [line['world'], line['global_batch']])).toEqual([
    [2, 64],
    [1, 64],
  ]);
});

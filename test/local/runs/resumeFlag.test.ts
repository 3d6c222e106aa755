// `--resume` names where the first start of a run begins. What comes after goes on with what the
// run has made, and the histories of a run never mix.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  readLines,
  runCli,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('resume-flag');
const run = (name: string): string => join(folder.path, name);
const words = (steps: number, ...more: string[]): string[] => [
  ...['train', '--model', 'mlp', '--data', 'synthetic:2x8', '--image-size', '8', '--batch-size', '4'],
  ...['--threads', '1', '--checkpoint-every', '10', '--steps', String(steps), ...more],
];
const training = (name: string, steps: number, ...more: string[]): string[] =>
  words(steps, '--run-dir', run(name), ...more);
const startsOf = (name: string): unknown[] =>
  readLines(join(run(name), 'metrics.jsonl')).flatMap((line) =>
    line.kind === 'start' ? line['resumed_from'] : [],
  );
const checkpoint = (name: string, step: number): string =>
  join(run(name), 'checkpoints', checkpointName(step));

beforeAll(async () => {
  expectExit(await runTrainer(training('other', 30)), 0);
});
afterAll(folder.remove);

it('a checkpoint of another run begins a run once, and its own ones go before', async () => {
  const from = ['--resume', checkpoint('other', 20)];
  expectExit(await runTrainer(training('begun', 40, ...from)), 0);
  const again = await runTrainer(training('begun', 50, ...from));
  expectExit(again, 0);
  expect(again.stderr).toContain(`note: goes on from ${checkpointName(40)} of this run, not from --resume`);
  expect(startsOf('begun')).toEqual([checkpointName(20), checkpointName(40)]);
});

it('an earlier checkpoint of the run itself is refused while there are later ones', async () => {
  const refused = await runTrainer(training('other', 40, '--resume', checkpoint('other', 20)));
  expectExit(refused, 2);
  expect(refused.stderr).toContain(`but the run has ${checkpointName(30)} already. Delete what is later`);
  expect(startsOf('other')).toEqual([null]);
  expectExit(await runTrainer(training('other', 31, '--resume', checkpoint('other', 30))), 0);
});

it.each([
  ['none', null],
  ['PATH', checkpointName(10)],
])('a restart by a supervisor goes on in place of --resume %s', async (value, first) => {
  expectExit(await runTrainer(training('source', 10)), 0);
  const name = `restarted-${value}`;
  const flag = ['--resume', value === 'none' ? value : checkpoint('source', 10)];
  expectExit(await runTrainer(training(name, 20, ...flag)), 0);
  const env = { TRAINYARD_RESTART: '1' };
  expectExit(await runTrainer(training(name, 30, ...flag), { env }), 0);
  expect(startsOf(name)).toEqual([first, checkpointName(20)]);
  // Before the run has a checkpoint, it begins as the first start did.
  const early = `early-${value}`;
  expectExit(await runTrainer(training(early, 20, ...flag), { env }), 0);
  expect(startsOf(early)).toEqual([first]);
});

it('trainyard resume goes on in place of --resume none', async () => {
  const dir = run('by-hand');
  const begun = await runCli([
    ...['run', 'local', '--run-dir', dir, '--', ...words(20_000_000, '--resume', 'none')],
    ...['--lr', '1000000'],
  ]);
  expectExit(begun, 5); // it diverges
  expect(begun.stdout + begun.stderr).toMatch(/not (?:a )?finite/);
  const resumed = await runCli(['resume', dir, '--json']);
  const argv = /"argv":(\[[^\]]*\])/.exec(resumed.stdout)?.[1] ?? '';
  expect(argv).toContain('"train"');
  expect(argv).not.toContain('--resume');
});

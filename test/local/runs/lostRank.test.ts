// A rank that is lost costs one step: rank 0 saves what it has before the restart.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  cli,
  expectExit,
  fingerprint,
  lastOnly,
  readLinesSoFar,
  readLines,
  runRanks,
  runTrainer,
  start,
  temporaryFolder,
  until,
  type Line,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('lost-rank');
const data = join(folder.path, 'data');
const run = (name: string): string => join(folder.path, name);
const steps = 48;
/** No checkpoint comes before the last one. */
const training = (...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'resnet20', '--data', join(data, 'train'), '--batch-size', '4', '--seed', '3'],
    ...[
      '--steps',
      String(steps),
      '--checkpoint-every',
      '1000',
      '--log-every',
      '1',
      '--device',
      'cpu',
      ...more,
    ],
  ]);

/**
 * Of a profile with three slots, which starts once more and notices after 12 s that a rank hangs. A
 * step may take seconds beside other tests.
 */
function home(): string {
  const path = run('home');
  mkdirSync(path, { recursive: true });
  const hosts = [{ host: 'localhost', slots: 3 }];
  const profile = { name: 'local', kind: 'local', maxRestarts: 1, hangTimeout: 12, hosts };
  writeFileSync(join(path, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  return path;
}

const events = (name: string): Line[] => readLines(join(run(name), 'events.jsonl'));
const metrics = (name: string): Line[] => readLines(join(run(name), 'metrics.jsonl'));
const restartOf = (name: string): Line | undefined =>
  metrics(name).find(({ kind, generation }) => kind === 'start' && generation === 2);

/** Runs to the end; at step 10 the rank gets the signal. */
async function signalled(
  name: string,
  rank: number,
  signal: NodeJS.Signals,
  ...more: string[]
): Promise<Outcome> {
  const words = ['run', 'local', '--run-dir', run(name), '--ranks', '3', '--', ...training(...more)];
  const running = start(process.execPath, [cli, ...words], { env: { TRAINYARD_HOME: home() } });
  const isStep = ({ kind, step }: Line): boolean => kind === 'step' && Number(step) >= 10;
  const file = join(run(name), 'metrics.jsonl');
  await until('step 10', () => existsSync(file) && readLinesSoFar(file).some(isStep));
  const begun = events(name).find((line) => line.kind === 'rank_started' && line['rank'] === rank);
  process.kill(Number(begun?.['pid']), signal);
  return running.ended;
}

beforeAll(async () => {
  const words = ['prep', '--from', 'demo:3x90', '--to', data, '--validation', '0.1'];
  expectExit(await runTrainer(words), 0);
});
afterAll(folder.remove);

describe.each([
  ['mirrored', ['--sync-batch-norm', '--accumulate', '2']],
  ['averaged', ['--ema', '0.9', '--ema-every', '4']],
])('%s', (name, recipe) => {
  it('goes on with the step after that of the loss, to the same weights', async () => {
    expectExit(await runRanks(3, training('--run-dir', run(`${name}-alone`), ...recipe)), 0);
    expectExit(await signalled(name, 1, 'SIGKILL', ...recipe), 0);
    const lost = events(name).find(({ kind, rank }) => kind === 'rank_exited' && rank === 1);
    expect(lost).toMatchObject({ signal: 9 });
    // The killed rank was at that step, or had ended it before rank 0 said so.
    const saved = Number(String(restartOf(name)?.['resumed_from']).slice(-8));
    expect(Math.abs(saved - Number(lost?.['last_step']))).toBeLessThanOrEqual(1);
    expect(fingerprint(run(name), steps)).toBe(fingerprint(run(`${name}-alone`), steps));
  });
});

it('goes on with what it has, whatever --resume said of its first start', async () => {
  expectExit(await signalled('anew', 1, 'SIGKILL', '--resume', 'none'), 0);
  expect(String(restartOf('anew')?.['resumed_from'])).toMatch(/^step-000000\d\d$/);
});

it('a rank that hangs costs one step too', async () => {
  expectExit(await signalled('hangs', 2, 'SIGSTOP', '--sync-batch-norm', '--accumulate', '2'), 0);
  const hang = events('hangs').find(({ kind }) => kind === 'hang');
  const saved = Number(String(restartOf('hangs')?.['resumed_from']).slice(-8));
  expect(Math.abs(saved - Number(hang?.['last_step']))).toBeLessThanOrEqual(1);
  expect(fingerprint(run('hangs'), steps)).toBe(fingerprint(run('mirrored-alone'), steps));
});

it('where servers hold the weights, the run begins where its checkpoints are', async () => {
  expectExit(await signalled('servers', 1, 'SIGKILL', '--strategy', 'parameter-server', '--servers', '1'), 0);
  expect(restartOf('servers')).toMatchObject({ resumed_from: null });
});

// A run with a time limit: the supervisor ends it after a checkpoint, with or without a client.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, readLines, runCli, temporaryFolder, until } from '../../support/harness.js';

const folder = temporaryFolder('time-limit');
const home = join(folder.path, 'home');
const dir = join(folder.path, 'run');
const options = { env: { TRAINYARD_HOME: home } };
const train = ['train', '--model', 'mlp', '--data', 'synthetic', '--steps', '1000000', '--device', 'cpu'];

interface State {
  phase: string;
  started: number;
  ended: number | null;
  reason: string | null;
}
const state = (): State => JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as State;
const checkpoints = (): Record<string, unknown>[] =>
  readLines(join(dir, 'metrics.jsonl')).filter(({ kind }) => kind === 'checkpoint');

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const local = { name: 'local', kind: 'local', workdir: join(folder.path, 'work') };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [local] }));
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

it('ends after a checkpoint though no client is there, and goes on with a limit of its own', async () => {
  const asked = ['run', 'local', '--detach', '--ranks', '1', '--run-dir', dir, '--time-limit', '3s'];
  expectExit(await runCli([...asked, '--', ...train], options), 0);
  await until('the end of the run', () => state().ended !== null, 60);
  const first = state();
  expect(first).toMatchObject({ phase: 'stopped', reason: 'its time limit of 3 s is over' });
  expect((first.ended ?? 0) - first.started).toBeGreaterThanOrEqual(3);
  const [written] = checkpoints();
  expect(written?.['step']).toBeGreaterThan(0);

  const again = await runCli(['resume', dir, '--time-limit', '2s'], options);
  expectExit(again, 75);
  expect(state()).toMatchObject({ phase: 'stopped', reason: 'its time limit of 2 s is over' });
  expect(checkpoints().at(-1)?.['step']).toBeGreaterThan(Number(written?.['step']));
});

it('refuses a limit that is no time', async () => {
  for (const wrong of ['0s', '5', 'soon', '-1h', '400d']) {
    const run = await runCli(['run', 'local', `--time-limit=${wrong}`, '--', ...train], options);
    expectExit(run, 2);
    expect(run.stderr).toContain('--time-limit must be from 1s to 365d');
  }
});

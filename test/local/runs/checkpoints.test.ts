// What a person does with checkpoints by `trainyard`, on real ones.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  processesNaming,
  readLines,
  runCli,
  temporaryFolder,
  until,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('checkpoint-verbs');
const home = join(folder.path, 'home');
const cli = (...words: string[]): Promise<Outcome> => runCli(words, { env: { TRAINYARD_HOME: home } });
const dir = join(folder.path, 'first');
const record = (run: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as Record<string, unknown>;

beforeAll(async () => {
  expectExit(await cli('runtime'), 0);
  const { mkdirSync, writeFileSync } = await import('node:fs');
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  const train = ['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1', '--steps', '60'];
  const flags = ['--checkpoint-every', '20', '--seed', '3'];
  expectExit(await cli('run', 'local', '--ranks', '1', '--run-dir', dir, '--', ...train, ...flags), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

it('run-from starts a new run with the weights, and says where it came from', async () => {
  const started = await cli('run-from', dir, '40', '--json', '--', '--steps', '1', '--lr', '1e-9');
  expectExit(started, 0);
  const runs = join(folder.path, 'work/runs');
  const [id = ''] = readdirSync(runs);
  const made = join(runs, id);
  expect(record(made)).toMatchObject({
    from: { dir, step: 40 },
    argv: [
      ...['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1'],
      ...['--checkpoint-every', '20', '--seed', '3', '--steps', '1', '--lr', '1e-9'],
      ...['--init-weights', join(dir, 'checkpoints', checkpointName(40), 'model.safetensors')],
      ...['--device', 'cpu'],
    ],
  });
  const [start] = readLines(join(made, 'metrics.jsonl'));
  expect(start).toMatchObject({ kind: 'start', resumed_from: null, made_new: [], total_steps: 1 });

  const none = await cli('run-from', dir, '41');
  expectExit(none, 2);
  expect(none.stderr).toContain('no checkpoint of step 41. Its checkpoints are those of step 20, 40, 60');
});

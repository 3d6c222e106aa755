// A wrong evaluation set: the run ends well, and everybody says that evaluations are missing.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, runCli, runTrainer, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('evaluator-end');
const home = join(folder.path, 'home');
const data = join(folder.path, 'shapes');
const other = join(folder.path, 'other');
const cli = (...words: string[]): Promise<Outcome> => runCli(words, { env: { TRAINYARD_HOME: home } });

beforeAll(async () => {
  expectExit(await cli('runtime'), 0);
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  expectExit(await runTrainer(['prep', '--from', 'demo:3x30', '--to', data, '--image-size', '32']), 0);
  const validation = join(data, 'validation');
  for (const name of readdirSync(validation)) {
    cpSync(join(validation, name), join(other, `no-${name}`), { recursive: true });
  }
});
afterAll(folder.remove);

it('the summary, the health and the line of the event say what is missing, and where the reason is', async () => {
  const train = ['train', '--model', 'mlp', '--data', join(data, 'train'), '--eval-data', other];
  const flags = ['--threads', '1', '--steps', '30', '--checkpoint-every', '15', '--batch-size', '8'];
  const run = await cli('run', 'local', '--ranks', '1', '--', ...train, ...flags);
  expectExit(run, 0); // the verdict of the training
  const id = /^run +(\S+)$/m.exec(run.stdout)?.[1] ?? '';
  const why = 'the evaluator ended with exit code 3';
  expect(run.stdout).toContain(`${why}; see: trainyard logs ${id} --source eval\n`);
  const row = `evaluator    no evaluations: ${why}; see: trainyard logs ${id} --source eval\n`;
  expect(run.stdout).toContain(row);
  expect((await cli('runs')).stdout).toContain(`finished, no evaluations: ${why}; see the log of eval`);
  const json = JSON.parse((await cli('runs', '--json')).stdout) as { health: object };
  expect(json.health).toMatchObject({ level: 'warning', kind: 'evaluator' });
});

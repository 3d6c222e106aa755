// Flags of the trainer on the command line: what is wrong with them is said without a connection.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, runCli, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('trainer-flags');
const home = join(folder.path, 'home');
const cli = (...words: string[]): Promise<Outcome> => runCli(words, { env: { TRAINYARD_HOME: home } });

beforeAll(async () => {
  expectExit(await cli('runtime'), 0);
  mkdirSync(home, { recursive: true });
  // Nothing listens there: whatever connects fails with exit 3.
  const lab = { name: 'lab', kind: 'ssh', hosts: [{ host: '127.0.0.1', port: 9 }] };
  const local = { name: 'local', kind: 'local', workdir: join(folder.path, 'work') };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [lab, local] }));
});
afterAll(folder.remove);

it('the help of the trainer is printed, whatever the profile', async () => {
  const help = await cli('run', 'lab', '--', 'train', '--help');
  expectExit(help, 0);
  expect(help.stdout).toMatch(/Usage: trainer train .*--batch-size /s);
  expect((await cli('run', 'lab', '--', 'trainer', '--help')).stdout).toContain('selftest');
});

it.each([
  [['--', 'train', '--dta', '/d'], 'the trainer has no flag --dta. Did you mean --data?'],
  [['train', '--model', 'mlp'], '--model is a flag of the trainer. Write it after "-- train".'],
  [['--epochs', '3', '--', 'train'], '--epochs is a flag of the trainer. Write it after "-- train".'],
  [['--device', 'cuda', '--', 'train'], '--device is a flag of the trainer. Write it after "-- train".'],
  [['--rnaks', '2', '--', 'train'], 'trainyard run has no flag --rnaks. Did you mean --ranks?'],
])('run lab %j', async (words, said) => {
  const outcome = await cli('run', 'lab', ...words);
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain(said);
});

it('flags of run-from stand after -- by themselves', async () => {
  const outcome = await cli('run-from', 'last', '--lr', '0.1');
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain('--lr is a flag of the trainer. Write it after "--".');
});

it('a program that is not there and is nearly a verb of the trainer', async () => {
  const outcome = await cli('run', 'local', '--', 'trian', '--model', 'mlp');
  expectExit(outcome, 4);
  expect(outcome.stderr).toMatch(/trian is not on PATH on \S+\. Did you mean train\?/);
  const other = await cli('run', 'local', '--', 'no-such-program');
  expect(other.stderr).toMatch(/no-such-program is not on PATH on .* Install it there/);
});

it('a program of this folder that is not sent is named, whatever comes of the run', async () => {
  writeFileSync(join(folder.path, 'train.py'), '');
  const given = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
  const note = 'train.py is not sent to the nodes, and has to be there. --code . sends this folder';
  expect((await runCli(['run', 'lab', '--', 'python3', 'train.py'], given)).stderr).toContain(note);
  expect((await runCli(['run', 'lab', '--', 'python3', '/srv/train.py'], given)).stderr).not.toContain(note);
});

it.each([
  ['squeue', 'runs'],
  ['cancel', 'stop'],
  ['rnus', 'runs'],
])('the verb %s is %s here', async (word, verb) => {
  const outcome = await cli(word);
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain(`trainyard has no verb ${word}. Did you mean ${verb}?`);
});

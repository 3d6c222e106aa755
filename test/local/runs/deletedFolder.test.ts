// In a folder that was deleted since the shell went there, verbs say so, and help is printed.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cli, expectExit, run, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('deleted');
afterAll(folder.remove);

/** `trainyard WORDS` from a shell whose folder is gone. */
function inDeletedFolder(words: string): Promise<Outcome> {
  const cwd = mkdtempSync(join(folder.path, 'gone-'));
  const script = 'rmdir "$PWD" && exec "$@"';
  const env = { TRAINYARD_HOME: join(folder.path, 'home') };
  return run('sh', ['-c', script, 'sh', process.execPath, cli, ...words.split(' ')], { cwd, env });
}

it.each([
  'runs',
  'profiles --json',
  'run local -- sh -c true',
  'run local -- train --modle mlp',
  'run local --model mlp',
  'attach last',
  'mcp',
])('trainyard %s says that the folder is gone', async (words) => {
  const outcome = await inDeletedFolder(words);
  expectExit(outcome, 2);
  expect(outcome.stdout).toBe('');
  expect(outcome.stderr).toBe(
    'trainyard: error: the current folder no longer exists. Change to another one (cd), and give the command again.\n',
  );
});

it.each(['--help', 'help run', 'run --help', '--version'])('trainyard %s works there', async (words) => {
  const outcome = await inDeletedFolder(words);
  expectExit(outcome, 0);
  expect(outcome.stdout).toMatch(/^(usage: trainyard|\d+\.\d+\.\d+\n$)/);
  expect(outcome.stderr).toBe('');
});

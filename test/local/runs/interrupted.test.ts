// A run whose supervisor was killed: what `stop` and `attach` say of it, how it goes on, and what
// `delete` asks and leaves.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  cli,
  expectExit,
  processesNaming,
  readLines,
  readLinesSoFar,
  runCli,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('interrupted');
const project = join(folder.path, "a person's project");
const supervisor = (): number => {
  const state = JSON.parse(readFileSync(join(project, 'state.json'), 'utf8')) as {
    supervisor: { pid: number };
  };
  return state.supervisor.pid;
};

beforeAll(async () => {
  expectExit(await runCli(['runtime']), 0);
  mkdirSync(project);
  writeFileSync(join(project, 'notes.txt'), 'mine');
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

it('goes on by the very command that stop and attach print', async () => {
  const train = [
    'train',
    '--model',
    'mlp',
    '--data',
    'synthetic',
    '--checkpoint-every',
    '20',
    '--threads',
    '1',
  ];
  expectExit(
    await runCli([
      ...['run', 'local', '--detach', '--ranks', '2', '--run-dir', project],
      ...['--', ...train, '--steps', '800'],
    ]),
    0,
  );
  const kinds = (): string[] => readLinesSoFar(join(project, 'metrics.jsonl')).map(({ kind }) => kind);
  await until(
    'a checkpoint',
    () => existsSync(join(project, 'metrics.jsonl')) && kinds().includes('checkpoint'),
  );
  process.kill(supervisor(), 'SIGKILL');
  await until('its ranks to be gone', () => processesNaming(project).length === 0, 20);

  const stopped = await runCli(['stop', project]);
  expectExit(stopped, 2);
  const attached = await runCli(['attach', project]);
  expectExit(attached, 5);
  const printed = /with: (trainyard run .*)$/m.exec(stopped.stderr)?.[1];
  expect(printed).toBeDefined();
  expect(attached.stderr).toContain(printed);
  expect(`${stopped.stderr}${attached.stderr}`).not.toContain('PROFILE');

  const shell = printed!.replace(/^trainyard/, `"${process.execPath}" "${cli}"`);
  execFileSync('sh', ['-c', shell], { stdio: 'pipe', timeout: 120_000 });
  const starts = readLines(join(project, 'metrics.jsonl')).filter(({ kind }) => kind === 'start');
  expect(starts).toHaveLength(2);
  expect(starts[1]?.['resumed_from']).toMatch(/^step-\d{8}$/);
});

it('is deleted only with --yes where nobody can be asked, and what is not its own stays and is named', async () => {
  const refused = await runCli(['delete', project]);
  expectExit(refused, 2);
  expect(refused.stderr).toContain('--yes');
  expect(existsSync(join(project, 'run.json'))).toBe(true);
  const deleted = await runCli(['delete', project, '--yes']);
  expectExit(deleted, 0);
  expect(deleted.stderr).toContain('notes.txt');
  expect(readdirSync(project)).toEqual(['notes.txt']);
});

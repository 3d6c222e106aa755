// Name, tags and notes of a run, on the command line: given at the start, changed when it is over.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, runCli, temporaryFolder } from '../../support/harness.js';

const folder = temporaryFolder('about');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home } };
const command = (...words: string[]): ReturnType<typeof runCli> => runCli(words, options);

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const made = (name: string): object => ({ name, kind: 'local', workdir: join(folder.path, name) });
  const profiles = ['local', 'other'].map(made);
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  expectExit(await command('runtime'), 0);
});
afterAll(folder.remove);

it('a run is called as its user wants, and found by that name', async () => {
  const start = await command(
    ...['run', 'local', '--name', 'Größe 3', '--tag', 'baseline', '--tag', 'lr 0.1,wide'],
    ...['--notes', 'first\nsecond', '--', 'true'],
  );
  expectExit(start, 0);
  const id = /^run +(\S+)$/m.exec(start.stdout)?.[1] ?? '';
  expect(id).toMatch(/-gr-e-3-/);
  const list = await command('runs');
  expect(list.stdout).toMatch(/^RUN +NAME +PHASE/);
  expect(list.stdout).toContain('Größe 3 #baseline #lr 0.1 #wide');

  expectExit(await command('tag', 'Größe 3', '--name', 'wider', '--untag', 'wide', '--tag', 'x'), 0);
  expect((await command('tag', 'wider')).stdout).toBe(
    `run    ${id}\nname   wider\ntags   baseline, lr 0.1, x\nnotes  first\n       second\n`,
  );
  const json = JSON.parse((await command('runs', '--json')).stdout) as object;
  expect(json).toMatchObject({ name: 'wider', tags: ['baseline', 'lr 0.1', 'x'], notes: 'first\nsecond' });

  const fitting = await command('runs', '--tag', 'X', '--status', 'failed,finished', '--match', 'FIRST wid');
  expect(fitting.stdout).toContain(id);
  const csv = await command('runs', '--match', 'wider', '--csv');
  expect(csv.stdout.split('\r\n').map((line) => line.split(',').slice(0, 5).join())).toEqual([
    'run,name,tags,profile,status',
    `${id},wider,baseline lr 0.1 x,local,finished`,
    '',
  ]);
  const others = await command('runs', '--status', 'failed');
  expectExit(others, 0);
  expect(others.stdout + others.stderr).toContain('none of the 1 run of local is such a run');
  const gone = await command('runs', '--status', 'gone');
  expectExit(gone, 2);
  expect(gone.stderr).toContain('--status names no status of a run: "gone". Use one of: queued, starting');

  const missing = await command('tag', 'wider', '--untag', 'wide');
  expectExit(missing, 2);
  expect(missing.stderr).toContain('the run has no tag wide. It has: baseline, lr 0.1, x');
  const long = await command('run', 'local', '--name', 'x'.repeat(81), '--', 'true');
  expectExit(long, 2);
  expect(long.stderr).toContain('the name has 81 characters, and 80 are possible');
  expect(JSON.parse((await command('runs', '--json')).stdout)).toEqual(json); // nothing was started
});

it('a run of another profile is found by its name alone, also by one that it got later', async () => {
  const start = await command('run', 'other', '--name', 'Bär "x" v2_A', '--', 'echo', 'said');
  expectExit(start, 0);
  const id = /^run +(\S+)$/m.exec(start.stdout)?.[1] ?? '';
  expectExit(await command('run', 'local', '--', 'true'), 0);
  expect((await command('logs', 'Bär "x" v2_A')).stdout).toBe('rank-0 | said\n');
  expectExit(await command('tag', 'Bär "x" v2_A', '--name', 'Größer'), 0);
  expect((await command('tag', 'Größer')).stdout).toContain(`run    ${id}`);
  const near = await command('tag', 'Grösser');
  expectExit(near, 2);
  expect(near.stderr).toContain(`Did you mean ${id} of profile other?`);
  expect((await command('tag', 'last')).stdout).not.toContain(id); // a name makes no run the last one
  expectExit(await command('run', 'local', '--name', 'Größer', '--', 'true'), 0);
  const several = await command('tag', 'Größer');
  expectExit(several, 2);
  expect(several.stderr).toContain(`${id} of profile other. Write the id of one`);
});

it('a stop of a run that was over already is no error, and says so', async () => {
  const run = await command('run', 'local', '--name', 'short one', '--', 'true');
  expectExit(run, 0);
  const id = /^run +(\S+)$/m.exec(run.stdout)?.[1] ?? '';
  const stopped = await command('stop', 'short one');
  expectExit(stopped, 0);
  expect(stopped.stdout).toBe(`${id} had finished already\n`);
  const json = await command('stop', 'short one', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ type: 'stopped', id, phase: 'finished' });
});

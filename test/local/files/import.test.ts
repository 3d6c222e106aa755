// A hosts file becomes a profile by the command line.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cli, expectExit, start, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('import');
afterAll(folder.remove);
const home = join(folder.path, 'trainyard');
mkdirSync(home, { mode: 0o700 });
const file = join(folder.path, 'hosts');

const trainyard = (...args: string[]): Promise<Outcome> =>
  start(process.execPath, [cli, ...args], { env: { ...process.env, TRAINYARD_HOME: home } }).ended;

it('makes the profile that the file describes, once', async () => {
  writeFileSync(file, '# the cluster\ngpu1 slots=8\nme@gpu2:2222\n');
  const made = await trainyard('import', file, '--name', 'lab');
  expectExit(made, 0);
  expect(made.stdout).toBe('lab: gpu1, gpu2\n');
  const listed = await trainyard('profiles', '--json');
  expectExit(listed, 0);
  expect(listed.stdout).toContain('"lab"');
  const saved = JSON.parse(readFileSync(join(home, 'profiles.json'), 'utf8')) as { profiles: unknown[] };
  expect(saved.profiles).toContainEqual({
    name: 'lab',
    kind: 'ssh',
    hosts: [
      { host: 'gpu1', slots: 8 },
      { host: 'gpu2', user: 'me', port: 2222 },
    ],
  });
  const again = await trainyard('import', file, '--name', 'lab');
  expectExit(again, 2);
  expect(again.stderr).toMatch(/there is a profile lab already.*Choose another name/);
});

it.each([
  [['import', file], /--name is missing/],
  [['import', '--name', 'x'], /HOSTFILE is missing/],
  [['import', join(folder.path, 'none'), '--name', 'x'], /none cannot be read: .*Name a hosts file/],
])('says what is wrong with %j', async (args, expected) => {
  const outcome = await trainyard(...args);
  expectExit(outcome, 2);
  expect(outcome.stderr).toMatch(expected);
});

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
  [['import', '--name', 'x'], /FILE is missing/],
  [
    ['import', join(folder.path, 'none'), '--name', 'x'],
    /none cannot be read: .*Name a hosts file or a file of profiles/,
  ],
])('says what is wrong with %j', async (args, expected) => {
  const outcome = await trainyard(...args);
  expectExit(outcome, 2);
  expect(outcome.stderr).toMatch(expected);
});

it('hands a profile on without its key file, and takes one that was handed on', async () => {
  const store = join(home, 'profiles.json');
  const host = { host: 'gpu1', user: 'me', identityFile: '/home/me/key', proxyJump: 'gate' };
  const team = {
    name: 'team',
    kind: 'ssh',
    hosts: [host],
    env: { FLAVOUR: 'x' },
    prologue: 'module load cuda',
  };
  writeFileSync(store, JSON.stringify({ version: 1, profiles: [team] }));
  const shared = { ...team, hosts: [{ host: 'gpu1', user: 'me', proxyJump: 'gate' }] };
  const printed = await trainyard('profiles', 'team');
  expectExit(printed, 0);
  expect(JSON.parse(printed.stdout)).toEqual({ version: 1, profiles: [shared] });
  expect(printed.stderr).toContain('with the variables FLAVOUR');

  const place = join(folder.path, 'shared/.vscode/trainyard.json');
  expectExit(await trainyard('profiles', 'team', '--to', place), 0);
  expectExit(await trainyard('profiles', 'local', '--to', place), 0);
  const several = await trainyard('import', place);
  expectExit(several, 2);
  expect(several.stderr).toContain(
    'has more than one profile. Choose one of its profiles by --profile: team, local',
  );
  const taken = await trainyard('import', place, '--profile', 'team');
  expectExit(taken, 2);
  expect(taken.stderr).toContain('there is a profile team already');
  const imported = await trainyard('import', place, '--profile', 'team', '--name', 'mine');
  expectExit(imported, 0);
  expect(imported.stdout.split('\n')).toEqual([
    'mine: saved',
    '  Connects to me@gpu1',
    '  Through: gate',
    '  Runs before each process: module load cuda',
    '  Sets: FLAVOUR',
    '',
  ]);
  const saved = JSON.parse(readFileSync(store, 'utf8')) as { profiles: unknown[] };
  expect(saved.profiles).toEqual([team, { ...shared, name: 'mine' }]);
});

it.each([
  [
    '{"version": 1, "profiles": [{"name": "a", "kind": "ssh"}]}',
    [],
    /bad.json:1: profiles\[0\].hosts: .*Correct that file/,
  ],
  ['{"version": 1}', [], /has no profile/],
  [
    '{"version": 1, "profiles": [{"name": "a", "kind": "local"}]}',
    ['--profile', 'b'],
    /no profile named b.*: a/,
  ],
  ['{"version": 1}', ['--leader', 'x'], /together with --leader. Leave that out/],
])('refuses %s %j, and saves nothing', async (text, flags, expected) => {
  const bad = join(folder.path, 'bad.json');
  writeFileSync(bad, text);
  const before = readFileSync(join(home, 'profiles.json'), 'utf8');
  const outcome = await trainyard('import', bad, ...flags);
  expectExit(outcome, 2);
  expect(outcome.stderr).toMatch(expected);
  expect(readFileSync(join(home, 'profiles.json'), 'utf8')).toBe(before);
});

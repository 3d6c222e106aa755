// The Python packages of an own program, on two nodes without a shared disk: the head decides on
// the versions, and the other node takes the same.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunFile } from '../../src/core/contracts/runSchema.js';
import { expectExit, runCli, until, type Outcome } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';

const program = `
import os, sys, six, colorama
print(os.path.basename(os.path.dirname(sys.prefix)), six.__version__, colorama.__version__, flush=True)
sys.exit(int(sys.argv[1]))
`;

const dir = mkdtempSync(join(tmpdir(), 'trainyard-packages-'));
let hosts: FaultHosts;

beforeAll(async () => {
  writeFileSync(join(dir, 'train.py'), program);
  writeFileSync(join(dir, 'requirements.txt'), 'six  # any version\n-r more.txt\n');
  writeFileSync(join(dir, 'more.txt'), 'colorama\n');
  writeFileSync(join(dir, 'older.txt'), '-r requirements.txt\n-c limits.txt\n');
  writeFileSync(join(dir, 'limits.txt'), 'colorama<0.4.6\n');
  hosts = await practiceHosts({ nodes: 2 });
  const list = (hosts.profile.hosts ?? []).map((host) => ({ ...host, slots: 1 }));
  const profile = { ...hosts.profile, name: 'lab', hosts: list };
  const other = { ...profile, name: 'other', prologue: 'PATH="$HOME/bin:$PATH"' };
  writeFileSync(
    join(hosts.trainyardHome, 'profiles.json'),
    JSON.stringify({ version: 1, profiles: [profile, other] }),
  );
});
afterAll(async () => {
  await hosts.stop();
  rmSync(dir, { recursive: true, force: true });
});

const trainyard = (...words: string[]): Promise<Outcome> =>
  runCli(words, { env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome }, cwd: dir });
const run = (requirements: string, more: string[] = [], code = '0'): Promise<Outcome> => {
  const own = ['--code', dir, '--requirements', requirements, ...more];
  return trainyard('run', 'lab', '--per-slot', ...own, '--', 'python3', 'train.py', code);
};
const newest = (): string => {
  const runs = join(hosts.homes[0] ?? '', '.trainyard/runs');
  return join(runs, readdirSync(runs).sort().at(-1) ?? '');
};
const recordOf = (run: string): RunFile => JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as RunFile;
const outputs = (run: string): string[] =>
  [0, 1].map((rank) => readFileSync(join(run, `logs/rank-${rank}.log`), 'utf8'));
const environments = (): string[] => hosts.homes.map((home) => join(home, '.trainyard/environments'));
const making = 'making a Python environment';

test('both nodes get the same versions, which the run records; a second run makes nothing', async () => {
  const first = await run('requirements.txt');
  expectExit(first, 0);
  expect(first.stderr.split(making)).toHaveLength(3);
  expect(first.stdout).toMatch(/^python {2}3\.\d+\.\d+, 2 packages of .*requirements\.txt$/m);
  const { environment } = recordOf(newest());
  expect(environment).toMatchObject({ requirements: join(dir, 'requirements.txt'), options: [] });
  const [colorama = '', six = ''] = environment?.packages ?? [];
  expect(colorama).toMatch(/^colorama==0\.4\./);
  expect(six).toMatch(/^six==1\./);
  const line = `environments ${six.slice(5)} ${colorama.slice(10)}\n`;
  expect(outputs(newest())).toEqual([line, line]);
  const second = await run('requirements.txt');
  expectExit(second, 0);
  expect(second.stderr).not.toContain(making);
  expect(recordOf(newest()).environment).toEqual(environment);
});

test('constraints count, and a comparison names the packages that differ', async () => {
  const before = newest();
  expectExit(await run('older.txt'), 0);
  expect(recordOf(newest()).environment?.packages[0]).toBe('colorama==0.4.5');
  const [first = '', second = ''] = [before, newest()].map((run) => recordOf(run).id);
  const compared = await trainyard('compare', first, second, '--profile', 'lab');
  expectExit(compared, 0);
  expect(compared.stdout).toMatch(/^package colorama +0\.4\.\d+ +0\.4\.5$/m);
  expect(compared.stdout).not.toContain('package six');
});

test('a resume has the same packages, also where a node has lost them and the file is gone', async () => {
  const own = join(dir, 'own.txt');
  writeFileSync(own, 'colorama==0.4.4\nsix\n');
  expectExit(await run(own, [], '1'), 5);
  const before = recordOf(newest()).environment;
  rmSync(own);
  rmSync(environments()[1] ?? '', { recursive: true });
  const resumed = await trainyard('resume', 'last');
  expectExit(resumed, 5);
  expect(resumed.stderr.split(making)).toHaveLength(2);
  expect(recordOf(newest()).environment).toEqual(before);
  for (const output of outputs(newest())) expect(output).toMatch(/^(environments \S+ 0\.4\.4\n){2}$/);
});

test('what cannot be had ends the start with the reason, and leaves nothing half made', async () => {
  const before = environments().map((path) => readdirSync(path));
  writeFileSync(join(dir, 'wrong.txt'), 'no-such-package-of-anybody==1\n');
  const wrong = await run('wrong.txt');
  expectExit(wrong, 4);
  expect(wrong.stderr).toContain('No matching distribution found for no-such-package-of-anybody==1');
  writeFileSync(join(dir, 'wrong.txt'), 'colorama==0.4.6\n-c limits.txt\n');
  const conflict = await run('wrong.txt');
  expectExit(conflict, 4);
  expect(conflict.stderr).toMatch(/The user requested colorama==0\.4\.6; The user requested \(constraint\)/);
  const missing = await run('none.txt');
  expectExit(missing, 2);
  expect(missing.stderr).toContain('the requirements cannot be read');
  const training = await trainyard(
    'run',
    'lab',
    '--requirements',
    'more.txt',
    '--',
    'train',
    '--model',
    'mlp',
  );
  expectExit(training, 2);
  expect(training.stderr).toContain('is a verb of the trainer');
  expect(environments().map((path) => readdirSync(path))).toEqual(before);
});

test('nodes with different Pythons are refused, each with its version', async () => {
  const bin = join(hosts.homes[1] ?? '', 'bin');
  mkdirSync(bin);
  const answer = { python: '/opt/python3', version: [3, 7, 1], flags: '', markers: {} };
  const says = `trainyard-python ${JSON.stringify(answer)}`;
  writeFileSync(join(bin, 'python3'), `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
  const own = ['--per-slot', '--requirements', 'more.txt', '--', 'python3', '-c', '0'];
  const refused = await trainyard('run', 'other', ...own);
  expectExit(refused, 4);
  expect(refused.stderr).toContain('the nodes have different Pythons: ');
  expect(refused.stderr).toContain('has 3.7.1 (/opt/python3)');
  expect(existsSync(join(hosts.homes[1] ?? '', '.trainyard/environments/locks'))).toBe(false);
});

test('packages are removed alone, but not while a run has them', async () => {
  const begun = join(dir, 'begun');
  const wait = `import os, six, time; open(${JSON.stringify(begun)}, 'w').close(); time.sleep(600)`;
  const own = ['--detach', '--requirements', 'more.txt', '--', 'python3', '-c', wait];
  writeFileSync(join(dir, 'more.txt'), 'six\n');
  expectExit(await trainyard('run', 'lab', ...own), 0);
  await until('the program', () => existsSync(begun), 20);
  const refused = await trainyard('clean', 'lab', '--packages');
  expectExit(refused, 4);
  expect(refused.stderr).toMatch(/the run \S+ is under way/);
  expectExit(await trainyard('stop', 'last', '--now'), 0);
  const cleaned = await trainyard('clean', 'lab', '--packages');
  expectExit(cleaned, 0);
  for (const path of environments()) {
    expect(cleaned.stdout).toContain(`removed ${path}\n`);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(join(path, '../node'))).toBe(true);
  }
  const again = await trainyard('clean', 'lab', '--packages');
  expect(again.stdout).toBe('there are no packages of your own programs\n');
  expectExit(await trainyard('clean', 'lab', '--packages', '--runs'), 2);
});

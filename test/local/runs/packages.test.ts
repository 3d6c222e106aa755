// The Python packages of an own program on this machine: put there once, used, and removed.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { expectExit, runCli, temporaryFolder, until } from '../../support/harness.js';

const folder = temporaryFolder('packages');
const home = join(folder.path, 'home');
const workdir = join(folder.path, 'work');
const environments = join(workdir, 'environments');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const command = (...words: string[]): ReturnType<typeof runCli> => runCli(words, options);
afterAll(folder.remove);

it('packages are there for a run, stay for the next one, and go when no run has them', async () => {
  mkdirSync(home, { recursive: true });
  const profiles = [{ name: 'local', kind: 'local', workdir }];
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  writeFileSync(join(folder.path, 'requirements.txt'), 'six\n');
  const begun = join(folder.path, 'begun');
  const script = `import six, sys, time; print(sys.prefix, flush=True); open(${JSON.stringify(begun)}, 'w')`;
  const own = ['--requirements', 'requirements.txt', '--', 'python3', '-c'];
  const first = await command('run', 'local', ...own, script);
  expectExit(first, 0);
  expect(first.stdout).toContain(environments);
  // Elsewhere, so that nothing of the run stands below the workdir but its packages.
  const elsewhere = ['--detach', '--run-dir', join(folder.path, 'elsewhere')];
  const longer = `${script}.close(); time.sleep(600)`.replace('begun', 'begun2');
  expectExit(await command('run', 'local', ...elsewhere, ...own, longer), 0);
  await until('the program', () => existsSync(`${begun}2`), 20);
  const refused = await command('clean', 'local', '--packages');
  expectExit(refused, 4);
  expect(refused.stderr).toMatch(/ of the run \S+\/elsewhere is alive as process \d+/);
  expectExit(await command('stop', join(folder.path, 'elsewhere'), '--now'), 0);
  const cleaned = await command('clean', 'local', '--packages');
  expectExit(cleaned, 0);
  expect(cleaned.stdout).toContain(`removed ${environments}\n`);
  expect(existsSync(environments)).toBe(false);
  expect(existsSync(join(workdir, 'runs'))).toBe(true);
});

// Fault: programs that a run needs are removed under it. The run's folder is not one of those in
// the workdir.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectExit, runCli, until, type Outcome } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
});
afterAll(() => hosts.stop());

const trainyard = (...words: string[]): Promise<Outcome> =>
  runCli(words, { env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome } });

test('clean is refused while a run elsewhere is alive, and then removes the programs', async () => {
  const home = hosts.homes[0] ?? '';
  const { name } = hosts.profile;
  const dir = join(home, 'data', 'exp1');
  mkdirSync(join(home, 'data'), { mode: 0o700 });
  const command = ['--', 'sh', '-c', 'touch begun; exec sleep 600'];
  expectExit(await trainyard('run', name, '--run-dir', dir, '--ranks', '1', '--detach', ...command), 0);
  await until('the program', () => existsSync(join(dir, 'begun')), 20);
  const refused = await trainyard('clean', name);
  expectExit(refused, 4);
  expect(refused.stderr).toMatch(
    new RegExp(`/node/[0-9a-f]{16}/bin/agent of the run ${dir} is alive as process \\d+\\. Stop that run`),
  );
  const { paths } = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { paths: { agent: string } };
  expect(existsSync(paths.agent)).toBe(true);
  expectExit(await trainyard('stop', dir, '--profile', name, '--now'), 0);
  const cleaned = await trainyard('clean', name);
  expectExit(cleaned, 0);
  expect(cleaned.stdout).toContain(`removed ${join(home, '.trainyard', 'node')}\n`);
  expect(existsSync(paths.agent)).toBe(false);
  expect(existsSync(join(dir, 'run.json'))).toBe(true);
});

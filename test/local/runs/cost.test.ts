// What a run costs: the price of the profile is kept with the run, and later prices leave it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, runCli, temporaryFolder } from '../../support/harness.js';

const folder = temporaryFolder('cost');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home } };

const saveProfile = (more: object): void => {
  const profile = { name: 'local', kind: 'local', workdir: join(folder.path, 'work'), ...more };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
};

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  saveProfile({ pricePerNodeHour: 3600, currency: 'EUR' }); // 1 EUR a second
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

it('is at the end of the run, in the list and in its record', async () => {
  const start = await runCli(['run', 'local', '--', 'sleep', '1'], options);
  expectExit(start, 0);
  const dir = /^folder +(\S+)$/m.exec(start.stdout)?.[1] ?? '';
  const record = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as object;
  expect(record).toMatchObject({ price: { per: 'node', amount: 3600, currency: 'EUR' } });
  const state = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as {
    started: number;
    ended: number;
  };
  const amount = state.ended - state.started;
  expect(amount).toBeGreaterThanOrEqual(1);
  expect(start.stdout).toContain(`cost         ${amount.toFixed(2)} EUR`);

  saveProfile({ pricePerNodeHour: 7200, currency: 'USD' });
  const list = await runCli(['runs', 'local'], options);
  expectExit(list, 0);
  expect(list.stdout).toMatch(/TOP-1 +COST +STARTED/);
  expect(list.stdout).toContain(`${amount.toFixed(2)} EUR`);
  const json = await runCli(['runs', 'local', '--json'], options);
  const { cost } = JSON.parse(json.stdout) as { cost: { so_far: number } };
  expect(cost).toMatchObject({ currency: 'EUR', per_hour: 3600, per_epoch: null });
  expect(cost.so_far).toBeCloseTo(amount, 9);
});

it('is left out without a price', async () => {
  saveProfile({ workdir: join(folder.path, 'work2') });
  const start = await runCli(['run', 'local', '--', 'true'], options);
  expectExit(start, 0);
  expect(start.stdout).not.toMatch(/^cost /m);
  const list = await runCli(['runs', 'local'], options);
  expect(list.stdout).toMatch(/TOP-1 +STARTED/);
});

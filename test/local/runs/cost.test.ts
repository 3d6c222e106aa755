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

it('goes on where the run does', async () => {
  saveProfile({ pricePerNodeHour: 3600, currency: 'EUR', workdir: join(folder.path, 'work3') });
  const start = await runCli(['run', 'local', '--', 'sh', '-c', 'sleep 0.5; exit 3'], options);
  expectExit(start, 5);
  const dir = /^folder +(\S+)$/m.exec(start.stdout)?.[1] ?? '';
  const spans = (): number => {
    const { started, ended } = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as Record<
      string,
      number
    >;
    return (ended ?? 0) - (started ?? 0);
  };
  const first = spans();
  const again = await runCli(['resume', 'last'], options);
  expectExit(again, 5);
  expect(again.stdout).toContain(`cost         ${(first + spans()).toFixed(2)} EUR`);
});

it('is left out without a price', async () => {
  saveProfile({ workdir: join(folder.path, 'work2') });
  const start = await runCli(['run', 'local', '--', 'true'], options);
  expectExit(start, 0);
  expect(start.stdout).not.toMatch(/^cost /m);
  const list = await runCli(['runs', 'local'], options);
  expect(list.stdout).toMatch(/TOP-1 +STARTED/);
});

it('is compared with that of other runs, also where one had no price', async () => {
  const runs = await runCli(['runs', 'local', '--json'], options);
  const [free = ''] = runs.stdout.split('\n').map((line) => /"id":"([^"]+)"/.exec(line)?.[1] ?? '');
  saveProfile({ pricePerNodeHour: 3600, currency: 'EUR', workdir: join(folder.path, 'work2') });
  expectExit(await runCli(['run', 'local', '--', 'sleep', '0.5'], options), 0);
  const json = await runCli(['compare', free, 'last', '--json'], options);
  expectExit(json, 0);
  const [first, second, differences] = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({ type: 'compared', id: free, currency: null, figures: { cost: null } });
  const { seconds, cost } = second?.['figures'] as { seconds: number; cost: number };
  expect(second).toMatchObject({ currency: 'EUR', status: 'finished' });
  expect(cost).toBeCloseTo(seconds, 9);
  expect(differences).toMatchObject({
    accuracy: null,
    settings: { command: ['true', 'sleep 0.5'], price: [null, '3600 EUR per node and hour'] },
  });
  const csv = await runCli(['compare', free, 'last', '--csv'], options);
  expect(csv.stdout.split('\r\n')).toHaveLength(4);
  expectExit(await runCli(['compare', free, free], options), 2);
});

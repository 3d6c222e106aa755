// What a run costs: the price of the profile is kept with the run, and later prices leave it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectExit, readLines, runCli, temporaryFolder } from '../../support/harness.js';

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
  expect(list.stdout).toMatch(/TOP-1 +COST +OF WHICH +STARTED/);
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

it('ends a run after a checkpoint where its budget is spent, and goes on with a greater one', async () => {
  saveProfile({ pricePerNodeHour: 3600, currency: 'EUR', workdir: join(folder.path, 'budget') });
  const words = ['train', '--model', 'mlp', '--data', 'synthetic', '--steps', '1000000', '--device', 'cpu'];
  const budget = ['--budget', '2', '--budget-stop'];
  const start = await runCli(['run', 'local', '--ranks', '1', ...budget, '--', ...words], options);
  expectExit(start, 75);
  const dir = /^folder +(\S+)$/m.exec(start.stdout)?.[1] ?? '';
  const state = (): { started: number; ended: number; reason: string } =>
    JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as ReturnType<typeof state>;
  expect(state().reason).toBe('its budget of 2.00 EUR is spent');
  const events = readLines(join(dir, 'events.jsonl'));
  const first = state();
  const low = events.find(({ kind }) => kind === 'budget_low');
  const spent = events.find(({ kind }) => kind === 'budget_spent');
  // 1 EUR a second: the cost is the time since the start, and it is looked at twice a second.
  for (const [event, least] of [
    [low, 1.6],
    [spent, 2],
  ] as const) {
    expect(event).toMatchObject({ amount: 2, currency: 'EUR', stops: true });
    expect(event?.['cost']).toBeGreaterThanOrEqual(least);
    expect(event?.['cost']).toBeCloseTo(Number(event?.['time']) - first.started, 1);
  }
  expect(events.find(({ kind }) => kind === 'stop_requested')).toMatchObject({
    mode: 'checkpoint',
    by: 'its budget of 2.00 EUR',
  });
  expect(events.map(({ kind }) => kind)).toContain('checkpoint');
  expect(start.stderr + start.stdout).toMatch(/budget: 2\.\d\d EUR of 2\.00 EUR are spent/);

  const refused = await runCli(['resume', dir], options);
  expectExit(refused, 2);
  expect(refused.stderr).toMatch(
    /has cost \d\.\d\d EUR, and its budget is 2\.00 EUR\. Go on with a greater one: --budget AMOUNT/,
  );
  const more = String(first.ended - first.started + 1.5);
  const again = await runCli(['resume', dir, '--budget', more], options);
  expectExit(again, 75);
  const { started, ended } = state();
  expect(ended - started).toBeGreaterThanOrEqual(1.5); // what the first start cost counts
  const last = readLines(join(dir, 'events.jsonl'))
    .filter(({ kind }) => kind === 'budget_spent')
    .at(-1);
  expect(Number(last?.['cost']) - (first.ended - first.started)).toBeCloseTo(
    Number(last?.['time']) - started,
    1,
  );
});

it('refuses a budget that nothing can be counted by', async () => {
  saveProfile({ workdir: join(folder.path, 'budget') });
  const free = await runCli(['run', 'local', '--budget', '5', '--', 'true'], options);
  expectExit(free, 2);
  expect(free.stderr).toContain('a budget needs a price, and profile local has none');
  saveProfile({ pricePerNodeHour: 1, workdir: join(folder.path, 'budget') });
  for (const wrong of [['--budget', '-1'], ['--budget', '0'], ['--budget', '5 EUR'], ['--budget-stop']]) {
    expectExit(await runCli(['run', 'local', ...wrong, '--', 'true'], options), 2);
  }
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

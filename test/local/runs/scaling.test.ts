// `trainyard report scaling`: real short runs on this machine, and what is left of them.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  cli,
  expectExit,
  parseLines,
  runCli,
  Running,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('scaling');
const home = join(folder.path, 'home');
const out = join(folder.path, 'report');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const runs = join(folder.path, 'work', 'runs');

const words = (replicas: string, more: string[] = [], batch = '8'): string[] => [
  ...['report', 'scaling', 'local', '--replicas', replicas, '--weak', '--steps', '8', '--out', out, ...more],
  ...['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--device', 'cpu', '--batch-size', batch],
];

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const workdir = join(folder.path, 'work');
  const local = { name: 'local', kind: 'local', workdir, hosts: [{ host: 'here', slots: 2 }] };
  const price = { pricePerNodeHour: 3.6, currency: 'EUR' };
  writeFileSync(
    join(home, 'profiles.json'),
    JSON.stringify({ version: 1, profiles: [{ ...local, ...price }] }),
  );
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

/** As the records of all runs name them, each once. */
const reportsOfRuns = (): unknown[] => {
  const texts = readdirSync(runs).map((name) => readFileSync(join(runs, name, 'run.json'), 'utf8'));
  const found = texts.map((text) => JSON.stringify((JSON.parse(text) as { report: unknown }).report));
  return [...new Set(found)].map((text): unknown => JSON.parse(text));
};

it('measures points as ordinary runs with a tag, and writes the pages', async () => {
  const made = await runCli(words('1,2', ['--json']), options);
  expectExit(made, 0);
  const [one, two, summary] = parseLines(made.stdout);
  expect(one).toMatchObject({ type: 'scaling-point', mode: 'weak', replicas: 1, speedup: 1, efficiency: 1 });
  expect(two).toMatchObject({ type: 'scaling-point', mode: 'weak', replicas: 2, hosts: 1 });
  expect(two?.['command']).toMatch(
    /^trainyard run local --ranks 2 --name 'weak scaling 2' --tag scaling --no-ev/,
  );
  expect(summary).toMatchObject({ type: 'scaling', folder: out, failed: [], missing: [], next_node: null });
  // 1 and 2 replicas, one with a batch of 32, and an all-reduce of 2.
  expect(readdirSync(runs)).toHaveLength(4);
  expect(reportsOfRuns()).toEqual([{ kind: 'scaling', begun: expect.any(Number) as number }]);
  const list = await runCli(['runs', 'local'], options);
  expect(list.stdout).toContain('#scaling');
  const data = JSON.parse(readFileSync(join(out, 'scaling.json'), 'utf8')) as {
    points: { batch: number; threads: number; allReduceMs: number | null; perHour: number }[];
    probe: { batch: number };
  };
  expect(data.points.map(({ batch, perHour }) => [batch, perHour])).toEqual([
    [8, 3.6],
    [8, 3.6],
  ]);
  expect(data.points[0]?.threads).toBe(data.points[1]?.threads);
  expect(data.points[0]?.allReduceMs).toBeNull();
  expect(data.points[1]?.allReduceMs).toBeGreaterThan(0);
  expect(data.probe.batch).toBe(32);
  for (const name of ['scaling.html', 'scaling.md']) expect(existsSync(join(out, name))).toBe(true);
});

it('goes on with what is missing, names a point that fails, and removes runs where asked', async () => {
  const before = readdirSync(runs).length;
  const again = await runCli(words('1,2,3', ['--remove-runs']), options);
  expectExit(again, 5);
  expect(again.stderr).toContain('weak scaling with 3 replicas failed: 3 ranks were asked for');
  expect(again.stdout).toMatch(/^ +1 +1 +8 /m);
  expect(again.stdout).toMatch(/^ +2 +1 +8 /m);
  expect(readdirSync(runs)).toHaveLength(before);
  expect(reportsOfRuns()).toHaveLength(1);
  expect(readFileSync(join(out, 'scaling.md'), 'utf8')).toContain('weak scaling with 3 replicas failed');
});

it('refuses a folder with another measurement, and flags that mean nothing', async () => {
  const stamp = statSync(join(out, 'scaling.json')).mtimeMs;
  const other = await runCli(words('1', [], '16'), options);
  expectExit(other, 2);
  expect(other.stderr).toContain('has another measurement');
  expect(statSync(join(out, 'scaling.json')).mtimeMs).toBe(stamp);
  const cases: [string[], string][] = [
    [['report', 'shrinking', 'local', '--', 'train'], 'there is no report shrinking'],
    [words('1', ['--steps', '7']), '--steps must be at least 8'],
    [words('1,x'), 'the replicas must be numbers from 1'],
    [words('1', ['--link', 'fast']), '--link must be Gbit/s'],
    [['report', 'scaling', 'local', '--', 'sleep', '1'], 'only a training of the trainer can be measured'],
  ];
  for (const [line, said] of cases) {
    const refused = await runCli(line, options);
    expectExit(refused, 2);
    expect(refused.stderr).toContain(said);
  }
});

it('keeps what there is when Ctrl-C ends it', async () => {
  const partial = join(folder.path, 'partial');
  const long = [
    ...['report', 'scaling', 'local', '--replicas', '1,2', '--weak', '--steps', '20', '--out', partial],
    ...['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--device', 'cpu', '--batch-size', '8'],
  ];
  const child = new Running(
    spawn(process.execPath, [cli, ...long], { ...options, env: { ...process.env, ...options.env } }),
  );
  await until('the first point', () => existsSync(join(partial, 'scaling.json')));
  child.child.kill('SIGINT');
  expectExit(await child.ended, 130);
  const data = JSON.parse(readFileSync(join(partial, 'scaling.json'), 'utf8')) as Record<string, object[]>;
  expect(data['points']).toHaveLength(1);
  expect(data['missing']).toEqual([{ mode: 'weak', replicas: 2 }]);
  expect(readFileSync(join(partial, 'scaling.md'), 'utf8')).toContain('ended before these points: weak 2');
  // No run is left behind under way.
  const list = await runCli(['runs', 'local', '--json'], options);
  expect(list.stdout).not.toMatch(/"(running|starting)"/);
});

// `trainyard report bakeoff`: real short runs, the winner, and what the profile keeps of it.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cli, expectExit, parseLines, runCli, start, temporaryFolder, until } from '../support/harness.js';

const folder = temporaryFolder('bakeoff');
const home = join(folder.path, 'home');
const out = join(folder.path, 'report');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const runs = join(folder.path, 'work', 'runs');
const profilesFile = join(home, 'profiles.json');

const training = ['--', 'train', '--model', 'mlp', '--data', 'synthetic', '--device', 'cpu'];
const bakeOff = (...more: string[]): string[] => [
  ...['report', 'bakeoff', 'local', '--minutes', '0.5', '--out', out, ...more, ...training],
];

/** What of bakeoff.json the test reads. */
interface Kept {
  cancelled: boolean;
  spent: number;
  created: number;
  running: { dir: string } | null;
  candidates: { outcome: string; why: string; runs: { run: string }[] }[];
}
/** What is left of runs: paths, and the state of each. */
const leftRuns = (): string[] =>
  readdirSync(runs, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.endsWith('state.json') ? `${path}: ${readFileSync(join(runs, path), 'utf8')}` : path,
  );
const runsOf = ({ candidates }: Kept): string[] =>
  candidates.flatMap(({ runs }) => runs.map(({ run }) => run));

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const workdir = join(folder.path, 'work');
  const local = { name: 'local', kind: 'local', workdir, hosts: [{ host: 'here', slots: 2 }] };
  writeFileSync(profilesFile, JSON.stringify({ version: 1, profiles: [local] }));
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(folder.remove);

it('tries what there is, writes the pages, and saves the winner to the profile', async () => {
  const tried = ['--replicas', '2', '--try', 'strategy,allreduce', '--save', '--json'];
  const made = await runCli(bakeOff(...tried), options);
  expectExit(made, 0);
  const lines = parseLines(made.stdout);
  const summary = lines.at(-1);
  const candidates = lines.slice(0, -1);
  expect(summary).toMatchObject({ type: 'bakeoff', folder: out, ranks: 2, cancelled: false });
  expect(candidates.map((one) => one['name'])).toEqual([
    ...['2 ranks', '2 ranks, allreduce ring', '2 ranks, allreduce tree'],
    ...['2 ranks, strategy central-storage', '2 ranks, strategy parameter-server'],
  ]);
  for (const one of candidates) {
    expect(one).toMatchObject({ type: 'bakeoff-candidate', ranks: 2 });
    expect(one['images_per_sec']).toBeGreaterThan(0);
    expect(one['low']).toBeLessThan(Number(one['high']));
  }
  const winner = candidates.find(({ outcome }) => outcome === 'won');
  expect(winner?.['name']).toBe(summary?.['winner']);
  const finalists = candidates.filter(({ rounds }) => rounds === winner?.['rounds']);
  const best = Math.max(...finalists.map((one) => Number(one['images_per_sec'])));
  expect(winner?.['images_per_sec']).toBe(best);
  // One worker and one server make half of the images at most.
  const served = candidates.at(-1);
  expect(served).toMatchObject({ outcome: 'dropped' });
  for (const name of ['bakeoff.html', 'bakeoff.md', 'bakeoff.json']) {
    expect(existsSync(join(out, name))).toBe(true);
  }
  expect(readFileSync(join(out, 'bakeoff.md'), 'utf8')).toContain(
    `**Best: ${winner?.['name'] as string}, with`,
  );
  expect(leftRuns()).toEqual([]);
  const kept = JSON.parse(readFileSync(profilesFile, 'utf8')) as {
    profiles: { train: Record<string, unknown>; hosts: unknown }[];
  };
  expect(kept.profiles[0]?.train['ranks']).toBe(2);
  expect(kept.profiles[0]?.train['flags'] ?? []).toEqual(winner?.['flags']);
  expect(kept.profiles[0]?.train['why']).toContain('best of 5');
  expect(kept.profiles[0]?.hosts).toEqual([{ host: 'here', slots: 2 }]);
});

it('goes on where it was ended, with what it measured', async () => {
  const file = join(out, 'bakeoff.json');
  const kept = (): Kept => JSON.parse(readFileSync(file, 'utf8')) as Kept;
  rmSync(out, { recursive: true, force: true });
  const line = bakeOff('--replicas', '1,2', '--try', 'ranks,allreduce', '--json');
  const first = start(process.execPath, [cli, ...line], options);
  await until(
    'a first run that was measured',
    () => (existsSync(file) && runsOf(kept()).length > 0) || undefined,
  );
  // Nobody would end the run if this client died, so the run has a limit of its own.
  const { dir } = await until('a run that goes on', () => kept().running ?? undefined);
  const record = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as object;
  expect(record).toMatchObject({
    limits: { timeLimit: expect.any(Number) as number },
    report: { kind: 'bakeoff', begun: kept().created },
  });
  first.child.kill('SIGINT');
  expectExit(await first.ended, 130);
  const before = kept();
  expect(before).toMatchObject({ cancelled: true });
  // As where it was ended while it started the run: it did not know of that yet.
  writeFileSync(file, JSON.stringify({ ...before, running: null }));
  const again = await runCli(line, options);
  expectExit(again, 0);
  expect(again.stderr).toContain(`goes on with ${out}: kept are`);
  const after = kept();
  expect(after.cancelled).toBe(false);
  expect(after.candidates.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  expect(after.spent).toBeGreaterThan(before.spent);
  expect(runsOf(after)).toEqual(expect.arrayContaining(runsOf(before)));
  expect(leftRuns()).toEqual([]);
});

it('a training has what the profile keeps, but where it says otherwise', async () => {
  const workdir = join(folder.path, 'work');
  const train = { ranks: 2, flags: ['--threads', '1', '--bucket-size', '0.5'], why: 'tried' };
  const local = { name: 'local', kind: 'local', workdir, hosts: [{ host: 'here', slots: 2 }], train };
  writeFileSync(profilesFile, JSON.stringify({ version: 1, profiles: [local] }));
  const listed = await runCli(['profiles'], options);
  expect(listed.stdout).toContain('trainings on local: 2 ranks, --threads 1 --bucket-size 0.5 (tried)');
  const steps = [...training, '--steps', '2'];
  const started = async (...more: string[]): Promise<{ said: string; argv: string; ranks: unknown }> => {
    const ran = await runCli(['run', 'local', '--json', ...more], options);
    expectExit(ran, 0);
    const run = parseLines(ran.stdout)[0]?.['run'] as { argv: string[]; ranks: number };
    return { said: ran.stderr, argv: run.argv.join(' '), ranks: run.ranks };
  };
  const usual = await started(...steps);
  expect(usual.said).toContain('profile local adds 2 ranks, --threads 1 --bucket-size 0.5');
  expect(usual).toMatchObject({ ranks: 2 });
  expect(usual.argv).toContain('train --threads 1 --bucket-size 0.5 --model mlp');
  const own = await started('--ranks', '1', ...steps, '--bucket-size', '2');
  expect(own.said).not.toContain('adds');
  expect(own).toMatchObject({ ranks: 1 });
  expect(own.argv).not.toMatch(/--threads 1 --bucket-size 0\.5/);
});

it('refuses what means nothing', async () => {
  const cases: [string[], string][] = [
    [bakeOff('--try', 'rank'), 'a bake-off cannot try "rank". Did you mean ranks?'],
    [bakeOff('--weak'), '--weak means nothing for a report bakeoff'],
    [bakeOff('--minutes', '0'), '--minutes must be a number above 0'],
    [['report', 'bakeoff', 'local', '--', 'sleep', '1'], 'only a training of the trainer'],
    [['report', 'scaling', 'local', '--save', ...training], '--save means nothing for a report scaling'],
  ];
  for (const [line, said] of cases) {
    const refused = await runCli(line, options);
    expectExit(refused, 2);
    expect(refused.stderr).toContain(said);
  }
});

// Runs that W&B's own program uploads: the values that it sends are those of our files, before and
// after a restart in mid-run, and there is one folder for each run.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wandbPython } from '../../scripts/test/trackers.mjs';
import {
  cli as program,
  expectExit,
  run,
  runCli,
  start,
  temporaryFolder,
  until,
  type Outcome,
} from '../support/harness.js';
import { curvesOf, simulateGpuMemory, type Curve } from './curves.js';
import {
  addAgain,
  hasGpuStandIn,
  idOf,
  isBetweenCheckpoints,
  ownProgram,
  ownValues,
  pidOf,
  simulatedGpus,
  startsOf,
  stepsOf,
  train,
  trainAgain,
} from './runs.js';
import { WandbServer, type UploadedRun } from './wandbServer.js';

const folder = temporaryFolder('wandb');
const found = wandbPython();
const missing = 'missing' in found ? found.missing : '';
const bin = 'bin' in found ? found.bin : '';
const server = new WandbServer();
let address = '';

const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCli(words, { env: { ...home, ...env } });
const exportedTo = (parent: string, dir: string, ...more: string[]): Promise<Outcome> =>
  cli(['export', dir, '--to', 'wandb', '--dir', parent, '--json', ...more]);
const exported = (dir: string, ...more: string[]): Promise<Outcome> => exportedTo(folder.path, dir, ...more);

/** No login of anybody: 40 characters, as W&B asks for. */
const login = 'f'.repeat(40);
const wandb = (words: string[]): Promise<Outcome> =>
  run(join(bin, 'wandb'), words, {
    cwd: folder.path,
    env: { ...home, WANDB_BASE_URL: address, WANDB_API_KEY: login, HOME: folder.path },
  });

const placeIn = ({ stdout }: Outcome): string => (JSON.parse(stdout) as { place: string }).place;

/** What W&B's program sent of the newest run that is ours. */
async function synced(place: string): Promise<UploadedRun> {
  const sync = await wandb(['sync', place]);
  expectExit(sync, 0);
  const id = /offline-run-\d+_\d+-(.+)$/.exec(place)?.[1] ?? '';
  const there = server.runs.get(id);
  if (!there) throw new Error(`${id} was not uploaded: ${sync.stdout}${sync.stderr}`);
  return there;
}

/** Each curve over its own axis. A value that was sent twice is there twice. */
function curvesIn({ history }: UploadedRun): Record<string, Curve> {
  const curves: Record<string, Curve> = {};
  for (const row of history.values()) {
    const x = row['trainyard/step'] ?? row['trainyard/seconds'];
    for (const [name, value] of Object.entries(row)) {
      if (name.startsWith('_') || name.startsWith('trainyard/')) continue;
      (curves[name] ??= []).push([Number(x), value]);
    }
  }
  for (const values of Object.values(curves)) values.sort(([a], [b]) => a - b);
  return curves;
}

/** Every curve of our files is there, none besides, and no value of one is there twice. */
function expectSame(there: UploadedRun, dir: string): void {
  expect(curvesIn(there)).toEqual(curvesOf(dir));
  expect([...there.history.values()].map((row) => row['_step'])).toEqual([...there.history.keys()]);
}

describe.skipIf(missing !== '')(`with W&B${missing === '' ? '' : `: ${missing}`}`, () => {
  beforeAll(async () => {
    addAgain(home.TRAINYARD_HOME);
    address = await server.listen();
  });
  afterAll(() => {
    server.close();
    folder.remove();
  });

  it('a run that is over; exported again, it is the same file', async () => {
    const dir = join(folder.path, 'over');
    const named = ['--name', 'first try', '--tag', 'lab', '--notes', 'of the contract'];
    expectExit(await cli([...train(dir, 20, ...named), '--checkpoint-every', '10']), 0);
    const ofRank1 = simulateGpuMemory(dir);
    const first = await exported(dir);
    expectExit(first, 0);
    const place = placeIn(first);
    expect(first.stderr).toContain(`wandb sync ${place}`);
    const there = await synced(place);
    expectSame(there, dir);
    expect(curvesIn(there)['rank/1/gpu_memory_used']).toEqual(ofRank1);
    expect(there).toMatchObject({
      project: 'trainyard',
      displayName: 'first try',
      notes: 'of the contract',
      tags: ['lab'],
      exitCode: 0,
    });
    expect(there.config).toMatchObject({
      model: { value: 'mlp' },
      ranks: { value: '2' },
      'trainyard/run': { value: idOf(dir) },
    });
    expect(there.summary).toMatchObject({ 'trainyard/state': 'finished' });
    expect(there.summary['train/loss']).toBe(curvesOf(dir)['train/loss']?.at(-1)?.[1]);
    const system = [...there.history.values()].find((row) => row['trainyard/seconds'] !== undefined);
    expect(Object.keys(system ?? {}).some((name) => name.startsWith('system/'))).toBe(true);
    const file = join(place, `run-${idOf(dir)}.wandb`);
    const before = readFileSync(file);
    expectExit(await exported(dir), 0);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${file}.synced`)).toBe(true);
    expectExit(await cli(['tag', dir, '--tag', 'second']), 0);
    expectExit(await exported(dir), 0);
    expect((await synced(place)).tags).toEqual(['lab', 'second']);
    expectSame(await synced(place), dir);
  });

  it('a run that is followed, over a restart that repeats steps which were uploaded', async () => {
    const dir = join(folder.path, 'followed');
    const words = [program, ...train(dir, 3000), '--checkpoint-every', '400'];
    const running = start(process.execPath, words, { env: home });
    await until('the first checkpoint', () => stepsOf(dir) > 450);
    const following = exported(dir, '--follow');
    const wandbFolder = join(folder.path, 'wandb');
    const written = (): string | undefined =>
      readdirSync(wandbFolder).find((name) => name.includes(idOf(dir)));
    await until('the first values', () => existsSync(wandbFolder) && written() !== undefined);
    const live = wandb(['beta', 'sync', '--live', join(wandbFolder, written() ?? '')]);
    await until('the first upload', () => (server.runs.get(idOf(dir))?.history.size ?? 0) > 0, 60);
    await until('steps after a checkpoint', () => isBetweenCheckpoints(dir));
    process.kill(pidOf(dir, 0), 'SIGKILL');
    expectExit(await running.ended, 5);
    const failed = await following;
    expectExit(failed, 0);
    expectExit(await live, 0);
    const before = server.runs.get(idOf(dir));
    if (!before) throw new Error('nothing was uploaded');
    expectSame(before, dir);
    expect(before.exitCode).toBe(1);
    const resumed = cli(['resume', dir]);
    await until('the second start', () => startsOf(dir) === 2);
    const ended = await exported(dir, '--follow');
    expectExit(ended, 0);
    expectExit(await resumed, 0);
    expect(ended.stderr).toContain(`Delete the run ${idOf(dir)} in W&B`);
    const after = await synced(placeIn(ended));
    expect(after.name).toBe(`${idOf(dir)}-2`);
    expectSame(after, dir);
    expect(after.exitCode).toBe(0);
    const listed = await wandb(['sync', '--dry-run', '--include-synced', wandbFolder]);
    expect(listed.stdout + listed.stderr).toContain(`${idOf(dir)}-2`);
    expect(listed.stdout + listed.stderr).not.toContain(`run-${idOf(dir)}.wandb`);
  });

  it('a run that restarts by itself: followed, and exported only afterwards, it is one run', async () => {
    const dir = join(folder.path, 'again');
    const running = start(process.execPath, [program, ...trainAgain(dir, 3000)], { env: home });
    await until('the first checkpoint', () => stepsOf(dir) > 450);
    const following = exported(dir, '--follow', '--profile', 'again');
    const folders = (parent: string): string[] =>
      existsSync(join(parent, 'wandb'))
        ? readdirSync(join(parent, 'wandb')).filter((name) => name.includes(idOf(dir)))
        : [];
    await until('the first values', () => folders(folder.path).length === 1);
    process.kill(pidOf(dir, 0), 'SIGKILL');
    expectExit(await running.ended, 0);
    const followed = await following;
    expectExit(followed, 0);
    expect(startsOf(dir)).toBe(2);
    const later = join(folder.path, 'later');
    mkdirSync(later);
    const afterwards = await exportedTo(later, dir, '--profile', 'again');
    expectExit(afterwards, 0);
    for (const [parent, outcome] of [
      [folder.path, followed],
      [later, afterwards],
    ] as const) {
      expect(folders(parent)).toHaveLength(1);
      server.runs.delete(idOf(dir));
      const there = await synced(placeIn(outcome));
      expect(there.name).toBe(idOf(dir));
      expectSame(there, dir);
      expect(there).toMatchObject({ exitCode: 0, summary: { 'trainyard/restarts': '1' } });
    }
  });

  it.skipIf(!hasGpuStandIn)('memory and utilization of GPUs, which a stand-in for NVML tells', async () => {
    const dir = join(folder.path, 'gpus');
    expectExit(await cli(ownProgram(dir, 3), simulatedGpus(folder.path)), 0);
    const done = await exported(dir);
    expectExit(done, 0);
    const there = curvesIn(await synced(placeIn(done)));
    for (const [index, utilization] of [90, 91].entries()) {
      const at = (figure: string): string => `system/${hostname()}/gpu-${index}/${figure}`;
      expect(there[at('memory_used')]).toEqual(curvesOf(dir)[at('memory_used')]);
      expect(there[at('memory_used')]?.[0]?.[1]).toBe(2 ** 32);
      expect(there[at('utilization')]?.[0]?.[1]).toBe(utilization);
    }
  });

  it('evaluations, the later one of an earlier step, and figures of an own program', async () => {
    const dir = join(folder.path, 'over');
    let place = '';
    for (const step of ['20', '10']) {
      expectExit(await cli(['eval', dir, step, '--data', 'synthetic']), 0);
      const done = await exported(dir);
      expectExit(done, 0);
      place = placeIn(done);
      await synced(place);
    }
    const there = await synced(place);
    expect(there.name).toBe(idOf(dir));
    expectSame(there, dir);
    expect(curvesIn(there)['eval/top1']?.map(([step]) => step)).toEqual([10, 20]);
    const own = join(folder.path, 'own');
    expectExit(await cli(ownProgram(own)), 0);
    const done = await exported(own);
    expectExit(done, 0);
    expect(curvesIn(await synced(placeIn(done)))['loss']).toEqual(ownValues);
  });

  it('the login of W&B goes to its server alone', async () => {
    expect([...server.logins].some((sent) => sent !== '')).toBe(true);
    const kept = await run('grep', ['-rl', login, folder.path]);
    expect(kept.stdout).toBe('');
  });
});

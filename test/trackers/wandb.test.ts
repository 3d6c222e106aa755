// Runs that W&B's own program uploads: the values that it sends are those of our files, before and
// after a restart in mid-run, and there is one folder for each run.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
import { idOf, ownProgram, ownValues, pidOf, standing, startsOf, stepsOf, train } from './runs.js';
import { WandbServer, type UploadedRun } from './wandbServer.js';

const folder = temporaryFolder('wandb');
const found = wandbPython();
const missing = 'missing' in found ? found.missing : '';
const bin = 'bin' in found ? found.bin : '';
const server = new WandbServer();
let address = '';

const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[]): Promise<Outcome> => runCli(words, { env: home });
const exported = (dir: string, ...more: string[]): Promise<Outcome> =>
  cli(['export', dir, '--to', 'wandb', '--dir', folder.path, '--json', ...more]);

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

const curve = ({ history }: UploadedRun, name: string): [number, number][] =>
  [...history.values()]
    .filter((row) => row[name] !== undefined)
    .map((row): [number, number] => [Number(row['trainyard/step']), Number(row[name])])
    .sort(([a], [b]) => a - b);

function expectSame(there: UploadedRun, dir: string): void {
  for (const field of ['loss', 'top1', 'lr', 'images_per_sec', 'step_ms']) {
    expect(curve(there, `train/${field}`), field).toEqual(standing(dir, 'step', field));
  }
  expect([...there.history.values()].map((row) => row['_step'])).toEqual([...there.history.keys()]);
}

describe.skipIf(missing !== '')(`with W&B${missing === '' ? '' : `: ${missing}`}`, () => {
  beforeAll(async () => {
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
    const first = await exported(dir);
    expectExit(first, 0);
    const place = placeIn(first);
    expect(first.stderr).toContain(`wandb sync ${place}`);
    const there = await synced(place);
    expectSame(there, dir);
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
    expect(there.summary['train/loss']).toBe(standing(dir, 'step', 'loss').at(-1)?.[1]);
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
    for (const field of ['top1', 'top5', 'loss']) {
      expect(curve(there, `eval/${field}`), field).toEqual(standing(dir, 'eval', field));
    }
    expect(standing(dir, 'eval', 'top1')).toHaveLength(2);
    expectSame(there, dir);
    const own = join(folder.path, 'own');
    expectExit(await cli(ownProgram(own)), 0);
    const done = await exported(own);
    expectExit(done, 0);
    expect(curve(await synced(placeIn(done)), 'loss')).toEqual(ownValues);
  });

  it('the login of W&B goes to its server alone', async () => {
    expect([...server.logins].some((sent) => sent !== '')).toBe(true);
    const kept = await run('grep', ['-rl', login, folder.path]);
    expect(kept.stdout).toBe('');
  });
});

// Runs in a real MLflow server, read by MLflow's own client: the values are those of our files,
// before and after a restart in mid-run, and no run is there twice.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mlflowPython } from '../../scripts/test/trackers.mjs';
import {
  cli as program,
  expectExit,
  processesNaming,
  runCli,
  start,
  temporaryFolder,
  until,
  type Outcome,
} from '../support/harness.js';
import { curvesOf, simulateGpuMemory } from './curves.js';
import { MlflowServer, type RemoteRun } from './mlflowServer.js';
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

const folder = temporaryFolder('export');
const found = mlflowPython();
const missing = 'missing' in found ? found.missing : '';
const bin = 'bin' in found ? found.bin : '';
let server: MlflowServer;

const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCli(words, { env: { ...home, ...env } });
const exported = (dir: string, ...more: string[]): Promise<Outcome> =>
  cli(['export', dir, '--to', 'mlflow', '--uri', server.uri, '--json', ...more]);

/** The runs of the experiment that name our run. */
const remote = (id: string, experiment?: string): Promise<RemoteRun[]> => server.runs(id, experiment);

/** Every curve of our files is there, none besides, and no value of one is there twice. */
function expectSame(there: RemoteRun | undefined, dir: string): void {
  const metrics = Object.entries(there?.metrics ?? {}).map(([name, values]) => [
    name,
    [...values].sort(([a], [b]) => a - b),
  ]);
  expect(Object.fromEntries(metrics)).toEqual(curvesOf(dir));
}

describe.skipIf(missing !== '')(`with MLflow${missing === '' ? '' : `: ${missing}`}`, () => {
  beforeAll(async () => {
    addAgain(home.TRAINYARD_HOME);
    server = await MlflowServer.start(bin, folder.path);
  });
  afterAll(async () => {
    server.stop();
    await until('every process to end', () => processesNaming(folder.path).length === 0, 20);
    folder.remove();
  });

  it('a run that is over, its checkpoint, and the same run again', async () => {
    const dir = join(folder.path, 'over');
    const named = ['--name', 'first try', '--tag', 'lab', '--notes', 'of the contract'];
    expectExit(await cli([...train(dir, 20, ...named), '--checkpoint-every', '10']), 0);
    const ofRank1 = simulateGpuMemory(dir);
    expectExit(await exported(dir, '--checkpoints', 'last'), 0);
    expectExit(await exported(dir), 0);
    const runs = await remote(idOf(dir));
    expect(runs).toHaveLength(1);
    const [there] = runs;
    expectSame(there, dir);
    expect(there?.metrics['rank/1/gpu_memory_used']).toEqual(ofRank1);
    expect(there?.status).toBe('FINISHED');
    expect(there?.params).toMatchObject({ model: 'mlp', ranks: '2' });
    expect(there?.tags).toMatchObject({
      'mlflow.runName': 'first try',
      'mlflow.note.content': 'of the contract',
      'trainyard.tags': 'lab',
      'trainyard.state': 'finished',
    });
    expect(there?.artifacts).toContain('checkpoints/step-00000020/model.safetensors');
    expect(Object.keys(there?.metrics ?? {}).some((name) => name.startsWith('system/'))).toBe(true);
  });

  it('a run that is followed, over a restart that repeats steps which were sent', async () => {
    const dir = join(folder.path, 'followed');
    const running = start(process.execPath, [program, ...train(dir, 3000), '--checkpoint-every', '400'], {
      env: home,
    });
    await until('the first checkpoint', () => stepsOf(dir) > 450);
    const following = exported(dir, '--follow');
    for (const deadline = Date.now() + 60_000; ;) {
      if ((await remote(idOf(dir)))[0]?.metrics['train/loss'] !== undefined) break;
      if (Date.now() > deadline) throw new Error('no values were sent in 60 s');
    }
    await until('steps after a checkpoint', () => isBetweenCheckpoints(dir));
    process.kill(pidOf(dir, 0), 'SIGKILL');
    expectExit(await running.ended, 5);
    expectExit(await following, 0);
    expectSame((await remote(idOf(dir)))[0], dir);
    const resumed = cli(['resume', dir]);
    await until('the second start', () => startsOf(dir) === 2);
    const ended = await exported(dir, '--follow');
    expectExit(ended, 0);
    expectExit(await resumed, 0);
    expect(ended.stderr).toContain('were repeated');
    const runs = await remote(idOf(dir));
    expect(runs).toHaveLength(1);
    expectSame(runs[0], dir);
    expect(runs[0]?.status).toBe('FINISHED');
    expect(ended.stdout).toContain(runs[0]?.id);
  });

  it('a run that restarts by itself: with --export, and exported only afterwards, it is one run', async () => {
    const dir = join(folder.path, 'again');
    const words = trainAgain(dir, 3000, '--export', `mlflow=${server.uri}`);
    const running = start(process.execPath, [program, ...words], { env: home });
    await until('the first checkpoint', () => stepsOf(dir) > 450);
    await until('values in MLflow', async () => (await remote(idOf(dir)))[0]?.metrics['train/loss']);
    process.kill(pidOf(dir, 0), 'SIGKILL');
    expectExit(await running.ended, 0);
    expect(startsOf(dir)).toBe(2);
    await server.makeExperiment('later');
    expectExit(await exported(dir, '--experiment', 'later', '--profile', 'again'), 0);
    for (const experiment of ['trainyard', 'later']) {
      const runs = await remote(idOf(dir), experiment);
      expect(runs).toHaveLength(1);
      expectSame(runs[0], dir);
      expect(runs[0]?.status).toBe('FINISHED');
      expect(runs[0]?.tags['trainyard.restarts']).toBe('1');
    }
  });

  it.skipIf(!hasGpuStandIn)('memory and utilization of GPUs, which a stand-in for NVML tells', async () => {
    const dir = join(folder.path, 'gpus');
    expectExit(await cli(ownProgram(dir, 3), simulatedGpus(folder.path)), 0);
    expectExit(await exported(dir), 0);
    const [there] = await remote(idOf(dir));
    for (const [index, utilization] of [90, 91].entries()) {
      const at = (figure: string): string => `system/${hostname()}/gpu-${index}/${figure}`;
      expect(there?.metrics[at('memory_used')]).toEqual(curvesOf(dir)[at('memory_used')]);
      expect(there?.metrics[at('memory_used')]?.[0]?.[1]).toBe(2 ** 32);
      expect(there?.metrics[at('utilization')]?.[0]?.[1]).toBe(utilization);
    }
  });

  it('evaluations, the later one of an earlier step, and figures of an own program', async () => {
    const dir = join(folder.path, 'over');
    const [before] = await remote(idOf(dir));
    for (const step of ['20', '10']) {
      expectExit(await cli(['eval', dir, step, '--data', 'synthetic']), 0);
      expectExit(await exported(dir), 0);
    }
    const runs = await remote(idOf(dir));
    expect(runs.map(({ id }) => id)).toEqual([before?.id]);
    expectSame(runs[0], dir);
    expect(runs[0]?.metrics['eval/top1']?.map(([step]) => step).sort()).toEqual([10, 20]);
    const own = join(folder.path, 'own');
    expectExit(await cli(ownProgram(own)), 0);
    expectExit(await exported(own), 0);
    expect((await remote(idOf(own)))[0]?.metrics['loss']).toEqual(ownValues);
  });

  it('an experiment that is missing', async () => {
    const failed = await exported(join(folder.path, 'over'), '--experiment', 'trainyrd');
    expectExit(failed, 2);
    expect(failed.stderr).toContain('Did you mean "trainyard"?');
  });
});

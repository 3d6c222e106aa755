// Runs in a real MLflow server, read by MLflow's own client: the values are those of our files,
// before and after a restart in mid-run, and no run is there twice.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { mlflowPython } from '../../scripts/test/trackers.mjs';
import {
  cli as program,
  expectExit,
  processesNaming,
  run,
  runCli,
  start,
  temporaryFolder,
  until,
  type Outcome,
  type Running,
} from '../support/harness.js';
import { idOf, ownProgram, ownValues, pidOf, standing, startsOf, stepsOf, train } from './runs.js';

const folder = temporaryFolder('export');
const found = mlflowPython();
const missing = 'missing' in found ? found.missing : '';
const bin = 'bin' in found ? found.bin : '';
let server: Running | undefined;
let uri = '';

const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCli(words, { env: { ...home, ...env } });
const exported = (dir: string, ...more: string[]): Promise<Outcome> =>
  cli(['export', dir, '--to', 'mlflow', '--uri', uri, '--json', ...more]);

interface RemoteRun {
  id: string;
  status: string;
  params: Record<string, string>;
  tags: Record<string, string>;
  artifacts: string[];
  metrics: Record<string, [number, number][]>;
}

const reader = `
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name(sys.argv[2])
def read(run):
    id = run.info.run_id
    metrics = {k: [(m.step, m.value) for m in client.get_metric_history(id, k)] for k in run.data.metrics}
    folders = [f.path for f in client.list_artifacts(id, "checkpoints")]
    artifacts = [f.path for folder in folders for f in client.list_artifacts(id, folder)]
    return {"id": id, "status": run.info.status, "params": run.data.params, "tags": run.data.tags,
            "artifacts": artifacts, "metrics": metrics}
ids = [experiment.experiment_id] if experiment else []
print(json.dumps([read(r) for r in client.search_runs(ids)] if ids else []))
`;

/** The runs of the experiment that name our run. */
async function remote(id: string): Promise<RemoteRun[]> {
  const script = join(folder.path, 'reader.py');
  writeFileSync(script, reader);
  const read = await run(join(bin, 'python'), [script, uri, 'trainyard']);
  expectExit(read, 0);
  const all = JSON.parse(
    read.stdout.split('\n').findLast((line) => line.startsWith('[')) ?? '[]',
  ) as RemoteRun[];
  return all.filter(({ tags }) => tags['trainyard.run'] === id);
}

function expectSame(there: RemoteRun | undefined, dir: string): void {
  for (const field of ['loss', 'top1', 'lr', 'images_per_sec', 'step_ms']) {
    const values = [...(there?.metrics[`train/${field}`] ?? [])].sort(([a], [b]) => a - b);
    expect(values, field).toEqual(standing(dir, 'step', field));
  }
}

describe.skipIf(missing !== '')(`with MLflow${missing === '' ? '' : `: ${missing}`}`, () => {
  beforeAll(async () => {
    const port = await freePort();
    uri = `http://127.0.0.1:${port}`;
    const store = `sqlite:///${join(folder.path, 'mlflow.db')}`;
    const words = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
    const kept = ['--backend-store-uri', store, '--artifacts-destination', join(folder.path, 'artifacts')];
    server = start(join(bin, 'mlflow'), ['server', ...words, ...kept], {
      env: { MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false' },
      cwd: folder.path,
      detached: true,
    });
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`${uri}/health`).catch(() => undefined);
      if (answer?.ok === true) break;
      if (tries > 600) throw new Error(`MLflow did not start: ${server.stderr}`);
      await new Promise((wake) => setTimeout(wake, 100));
    }
  });
  afterAll(async () => {
    const pid = server?.child.pid;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await until('every process to end', () => processesNaming(folder.path).length === 0, 20);
    folder.remove();
  });

  it('a run that is over, its checkpoint, and the same run again', async () => {
    const dir = join(folder.path, 'over');
    const named = ['--name', 'first try', '--tag', 'lab', '--notes', 'of the contract'];
    expectExit(await cli([...train(dir, 20, ...named), '--checkpoint-every', '10']), 0);
    expectExit(await exported(dir, '--checkpoints', 'last'), 0);
    expectExit(await exported(dir), 0);
    const runs = await remote(idOf(dir));
    expect(runs).toHaveLength(1);
    const [there] = runs;
    expectSame(there, dir);
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

  it('evaluations, the later one of an earlier step, and figures of an own program', async () => {
    const dir = join(folder.path, 'over');
    const [before] = await remote(idOf(dir));
    for (const step of ['20', '10']) {
      expectExit(await cli(['eval', dir, step, '--data', 'synthetic']), 0);
      expectExit(await exported(dir), 0);
    }
    const runs = await remote(idOf(dir));
    expect(runs.map(({ id }) => id)).toEqual([before?.id]);
    for (const field of ['top1', 'top5', 'loss']) {
      const values = [...(runs[0]?.metrics[`eval/${field}`] ?? [])].sort(([a], [b]) => a - b);
      expect(values, field).toEqual(standing(dir, 'eval', field));
    }
    expect(standing(dir, 'eval', 'top1')).toHaveLength(2);
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

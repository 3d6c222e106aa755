// A real MLflow server, and what MLflow's own client reads there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { expectExit, run, start, type Running } from '../support/harness.js';
import type { Curve } from './curves.js';

/** A run there. The values of `metrics` are in the order in which MLflow gives them. */
export interface RemoteRun {
  id: string;
  status: string;
  params: Record<string, string>;
  tags: Record<string, string>;
  artifacts: string[];
  metrics: Record<string, Curve>;
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

/** Listens on this machine alone, and keeps everything in a folder of the test. */
export class MlflowServer {
  private constructor(
    private readonly bin: string,
    private readonly folder: string,
    private readonly server: Running,
    readonly uri: string,
  ) {}

  /** `bin` is that of MLflow's environment. Resolves once the server answers. */
  static async start(bin: string, folder: string): Promise<MlflowServer> {
    const port = await freePort();
    const uri = `http://127.0.0.1:${port}`;
    const store = `sqlite:///${join(folder, 'mlflow.db')}`;
    const words = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
    const kept = ['--backend-store-uri', store, '--artifacts-destination', join(folder, 'artifacts')];
    const server = start(join(bin, 'mlflow'), ['server', ...words, ...kept], {
      env: { MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false' },
      cwd: folder,
      detached: true,
    });
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`${uri}/health`).catch(() => undefined);
      if (answer?.ok === true) return new MlflowServer(bin, folder, server, uri);
      if (tries > 600) throw new Error(`MLflow did not start: ${server.stderr}`);
      await new Promise((wake) => setTimeout(wake, 100));
    }
  }

  stop(): void {
    const { pid } = this.server.child;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }

  /**
   * The runs of the experiment that name this run of ours; none where the experiment is missing.
   */
  async runs(ours: string, experiment = 'trainyard'): Promise<RemoteRun[]> {
    const script = join(this.folder, 'reader.py');
    writeFileSync(script, reader);
    const read = await run(join(this.bin, 'python'), [script, this.uri, experiment]);
    expectExit(read, 0);
    const line = read.stdout.split('\n').findLast((text) => text.startsWith('['));
    const all = JSON.parse(line ?? '[]') as RemoteRun[];
    return all.filter(({ tags }) => tags['trainyard.run'] === ours);
  }

  async makeExperiment(name: string): Promise<void> {
    const words =
      'import sys; from mlflow import MlflowClient; MlflowClient(sys.argv[1]).create_experiment(sys.argv[2])';
    expectExit(await run(join(this.bin, 'python'), ['-c', words, this.uri, name]), 0);
  }
}

// Checkpoints as artifacts of MLflow, through the server, which alone knows its storage.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfCancelled, UserError } from '../../base/errors.js';
import type { Progress } from '../../base/progress.js';
import type { CheckpointFolder } from '../tracker.js';
import type { MlflowApi } from './api.js';
import { answers, type MlflowRun } from './schemas.js';

/** Files that are there with the same size are left as they are. The manifest comes last. */
export async function putCheckpoint(
  api: MlflowApi,
  { run_id, artifact_uri }: MlflowRun['info'],
  { step, path, files }: CheckpointFolder,
  { signal, onProgress }: Progress,
): Promise<void> {
  const root = /^mlflow-artifacts:(?:\/\/[^/]*)?\/(.*)$/.exec(artifact_uri)?.[1];
  if (root === undefined) {
    const scheme = /^[a-z0-9+-]*/i.exec(artifact_uri)?.[0] ?? '';
    const what = `this MLflow keeps artifacts in ${scheme || 'a folder'} storage, which only its own client reaches`;
    throw new UserError(
      'preflight',
      what,
      'Let the server serve its artifacts, or export without checkpoints',
    );
  }
  const folder = `checkpoints/step-${String(step).padStart(8, '0')}`;
  const there = await api.get('artifacts/list', { run_id, path: folder }, answers.files, { signal });
  const sizes = new Map((there.files ?? []).map((file) => [file.path, file.file_size]));
  for (const name of files) {
    throwIfCancelled(signal);
    const { size } = await stat(join(path, name));
    if (sizes.get(`${folder}/${name}`) === size) continue;
    onProgress?.(`step ${step}: ${name} to MLflow`);
    await api.putFile(`${root}/${folder}/${name}`, join(path, name), { signal });
  }
}

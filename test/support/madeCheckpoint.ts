// A checkpoint of any size, as docs/contracts/checkpoints.md fixes it, made without a training.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointName } from './harness.js';

/** Its folder below a run folder. `bytes`: of its weights, which are of random content. */
export function makeCheckpoint(run: string, step: number, bytes: number): string {
  const folder = join(run, 'checkpoints', checkpointName(step));
  mkdirSync(folder, { recursive: true });
  const pattern = createHash('sha512').update(String(step)).digest();
  const contents = {
    'model.safetensors': Buffer.alloc(bytes, pattern),
    'optimizer.safetensors': Buffer.alloc(1000, 7),
    'state.json': Buffer.from('{"version":1}'),
  };
  const files = Object.entries(contents).map(([name, content]) => {
    writeFileSync(join(folder, name), content);
    return { bytes: content.length, name, sha256: createHash('sha256').update(content).digest('hex') };
  });
  const manifest = { classes: 10, model: 'mlp', step, time: 1795393106.5, version: 1, files };
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest)}\n`);
  return folder;
}

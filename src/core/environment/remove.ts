// Taking the Python packages of own programs away again.
import * as z from 'zod/mini';
import type { NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { RelayNode } from '../setup/relay.js';

const removedSchema = z.object({ removed: z.array(z.string()) });

/**
 * Removes all environments of these nodes. Resolves with the folders that went. UserError
 * (preflight) where a run is under way, (connection); Cancelled.
 */
export async function removePackages(
  nodes: readonly RelayNode[],
  workdir: NodePath,
  progress: Progress = {},
): Promise<{ host: string; removed: string[] }[]> {
  const done: { host: string; removed: string[] }[] = [];
  for (const node of nodes) {
    const bootstrap = await node.bootstrap(progress.signal);
    try {
      const params = { workdir, only: ['environments'] };
      done.push({ host: node.name, ...(await bootstrap.request('clean', params, removedSchema, progress)) });
    } finally {
      bootstrap.dispose();
    }
  }
  return done;
}

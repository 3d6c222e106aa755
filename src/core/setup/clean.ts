// What a node has of ours is taken away from it.
import * as z from 'zod/mini';
import type { NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { RelayNode } from './relay.js';

const removedSchema = z.object({ removed: z.array(z.string()) });

/** `all`: the runs too. `only`: these folders of the workdir, and no others. */
interface CleanOptions {
  workdir: NodePath;
  all?: boolean;
  only?: readonly string[];
}

/** The folders that went from a node. */
export interface Cleaned {
  host: string;
  removed: string[];
}

/** UserError (preflight) where a run needs what is there, (connection); Cancelled. */
export async function cleanNode(
  node: RelayNode,
  options: CleanOptions,
  progress: Progress = {},
): Promise<Cleaned> {
  const bootstrap = await node.bootstrap(progress.signal);
  try {
    return { host: node.name, ...(await bootstrap.request('clean', options, removedSchema, progress)) };
  } finally {
    bootstrap.dispose();
  }
}

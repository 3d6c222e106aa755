// What an address holds, brought to one node, from where it is staged.
import * as z from 'zod/mini';
import { join, nodePath, type NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Progress } from '../base/progress.js';
import type { RelayNode } from '../setup/relay.js';
import { readFolderPrograms, type NativeSources } from '../setup/sources.js';
import type { Address } from './spec.js';

const foundSchema = z.object({ folder: nodePathSchema, files: z.int(), got: z.int(), bytes: z.int() });

/**
 * Has `node` download what the address holds and has changed since the last time, into the folder
 * TO.fetched beside `to`. Where the download fails, what is there is kept to go on from. Returns the
 * folder of the files. UserError (connection, preflight), Cancelled.
 */
export async function fromAddress(
  node: RelayNode,
  url: Address,
  to: NodePath,
  sources: NativeSources,
  progress: Progress,
): Promise<NodePath> {
  const bootstrap = await node.bootstrap(progress.signal);
  try {
    progress.onProgress?.(`asking for ${url} on ${node.name}`);
    const beside = nodePath(`${join(to).replace(/\/$/, '')}.fetched`);
    const params = { url, to: beside, programs: await readFolderPrograms(sources) };
    return (await bootstrap.request('stage-address', params, foundSchema, progress)).folder;
  } finally {
    bootstrap.dispose();
  }
}

// The data that a run is to read, as a check looks at it on every node.
import * as z from 'zod/mini';
import { bad, good, type CheckResult } from '../../base/checks.js';
import type { NodePath } from '../../base/nodePath.js';
import { judgeReads } from '../../check/slow.js';
import type { CheckedNode } from '../nodes/nodeChannels.js';

const count = z.int().check(z.gte(0));
const readSchema = z.object({ bytes: count, files: count, seconds: z.number() });
/** Seconds for which a node reads. */
const readSeconds = 1.5;

/** Whether the data is on this node. UserError (connection). */
export async function lookForData(
  profile: string,
  path: NodePath,
  { node, channel }: CheckedNode,
): Promise<CheckResult> {
  const [what = 'missing'] = await node.lookBy(channel, [path]);
  if (['folder', 'file', 'shards'].includes(what)) return good('data', `${path} is there`);
  const why = what === 'missing' ? 'does not exist' : `cannot be read: ${what}`;
  return bad('data', `${path} ${why}`, { kind: 'correctData', flag: 'data', profile });
}

/**
 * How fast each of these nodes reads it, all at once as a run does: a shared file server is then
 * asked by all. UserError (connection, preflight).
 */
export async function measureReads(path: NodePath, nodes: readonly CheckedNode[]): Promise<CheckResult[]> {
  const params = { path, seconds: readSeconds };
  const samples = await Promise.all(
    nodes.map(async ({ node, channel }) => {
      const read = await channel.request('read-rate', params, readSchema);
      return { host: node.name, ...read };
    }),
  );
  return judgeReads(samples);
}

// What is looked at on the nodes of a run before it is started.
import type { NodePath } from '../../base/nodePath.js';
import type { CheckResult } from '../../base/checks.js';
import { throwIfCancelled } from '../../base/errors.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { checkRemoteData } from '../../plan/preflight.js';
import type { RunRequest } from '../../plan/request.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import { tryTrainer } from './clusterCheck.js';
import { withChannels, type CheckedNode } from '../nodes/nodeChannels.js';
import { lookAtNodes } from './nodeFacts.js';
import type { SshNode } from '../nodes/sshNode.js';

type CheckedRequest = Pick<RunRequest, 'profile' | 'data' | 'kind'>;

/**
 * The data and the trainer of each node, and what the nodes are made of, as a check has it. Results
 * of all nodes, good and bad. UserError (connection, preflight), Cancelled.
 */
export function checkBeforeStart(
  request: CheckedRequest,
  runtimes: ReadonlyMap<SshNode, NodeRuntime>,
  nodes: readonly SshNode[],
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> {
  return withChannels(nodes, async (asked) => {
    const own = await Promise.all(asked.map((node) => checkPrograms(request, runtimes, node)));
    throwIfCancelled(signal);
    return [...own.flat(), ...(await comparedNodes(request.profile, asked))];
  });
}

async function checkPrograms(
  { data, kind, profile }: CheckedRequest,
  runtimes: ReadonlyMap<SshNode, NodeRuntime>,
  { node, channel }: CheckedNode,
): Promise<CheckResult[]> {
  const look = (paths: NodePath[]): Promise<string[]> => node.lookBy(channel, paths);
  const found = await checkRemoteData(data, look, profile.name);
  if (kind === 'train') found.push(await tryTrainer(node, channel, runtimes.get(node)));
  return found.map((result) => ({ ...result, host: node.name }));
}

/** A node that does not say what it is made of may still run: that is a warning here. */
async function comparedNodes(profile: Profile, asked: readonly CheckedNode[]): Promise<CheckResult[]> {
  const results = await lookAtNodes(profile, asked, []);
  return results.map((result) =>
    result.name === 'set-up' && !result.ok ? { ...result, ok: true, warning: true } : result,
  );
}

// What is looked at on the nodes of a run before it is started.
import type { NodePath } from '../../base/nodePath.js';
import { bad, good, warned, type CheckResult } from '../../base/checks.js';
import { throwIfCancelled } from '../../base/errors.js';
import { hasRanks } from '../../contracts/slots.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { checkRemoteData } from '../../plan/preflight.js';
import { assertTrainFlags, trainHelp } from '../../plan/request/flagCheck.js';
import { givenWorkdir } from '../../profiles/workdir.js';
import type { RunRequest } from '../../plan/request/request.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import { tryTrainer } from './clusterCheck.js';
import { withChannels, type CheckedNode } from '../nodes/nodeChannels.js';
import { lookAtNodes } from './nodeFacts.js';
import { nodeSays, type SshNode } from '../nodes/sshNode.js';
import { Survey } from '../nodes/survey.js';

type CheckedRequest = Pick<RunRequest, 'profile' | 'data' | 'kind'>;

/** The nodes of a run. */
interface RunNodes {
  /** Those with ranks, in the profile's order. */
  taken: readonly SshNode[];
  head: SshNode;
  runtimes: ReadonlyMap<SshNode, NodeRuntime>;
}

/**
 * The data and the trainer of each node with ranks, and what these nodes are made of, as a check
 * has it; of a head without ranks, what a training needs there. Results of all nodes, good and bad.
 * UserError (connection, preflight), Cancelled.
 */
export async function checkBeforeStart(
  request: RunRequest,
  nodes: RunNodes,
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> {
  const { taken, head, runtimes } = nodes;
  const ofHead = taken.includes(head) ? [] : await checkBareHead(request, nodes);
  return withChannels(taken, async (asked) => {
    const own = await Promise.all(asked.map((node) => checkPrograms(request, runtimes, node)));
    throwIfCancelled(signal);
    const others = await comparedNodes(request.profile, asked);
    const names = taken.map(({ name }) => name);
    return [...ofHead, ...own.flat(), ...others, ...mirrorLeftOut(request.profile, names)];
  });
}

/**
 * The flags of a training, by what the trainer says where its rank 0 will be. UserError (usage).
 */
export async function assertFlags(
  request: RunRequest,
  { taken: [first], runtimes }: RunNodes,
): Promise<void> {
  const runtime = first && runtimes.get(first);
  if (runtime) await assertTrainFlags(request, () => nodeSays(first, [runtime.trainer, ...trainHelp]));
}

/**
 * Rank 0 of a training writes metrics and checkpoints, and has to see the head's folder for them.
 * An evaluator beside it runs on the head, and needs trainer and images there.
 */
async function checkBareHead(
  request: RunRequest,
  { taken: [first], head, runtimes }: RunNodes,
): Promise<CheckResult[]> {
  if (request.kind !== 'train' || !first) return [];
  const workdir = givenWorkdir(request.profile);
  const { findings } = await Survey.of({ head, workdir }, [first], { wantsGpu: false });
  const shared = findings.every(({ probe }) => probe.sharesToken === true)
    ? good('run folder', `${workdir} is that of ${head.name}`)
    : bad('run folder', `rank 0 would be on ${first.name}, which does not see ${workdir} of ${head.name}`, {
        kind: 'shareWorkdir',
        profile: request.profile.name,
        host: head.name,
        ...(request.hosts && hasRanks(head.host) ? { leftOut: true } : {}),
      });
  const { evaluatedOn } = request;
  if (evaluatedOn === undefined) return [{ ...shared, host: first.name }];
  const data = request.data.filter(({ path }) => path === evaluatedOn);
  const evaluated = await withChannels([head], ([asked]) =>
    asked ? checkPrograms({ ...request, data }, runtimes, asked) : Promise.resolve([]),
  );
  return [{ ...shared, host: first.name }, ...evaluated];
}

/**
 * The data and, for a training, the trainer of one node. UserError (connection, preflight),
 * Cancelled.
 */
export async function checkPrograms(
  { data, kind, profile }: CheckedRequest,
  runtimes: ReadonlyMap<SshNode, NodeRuntime>,
  { node, channel }: CheckedNode,
): Promise<CheckResult[]> {
  const look = (paths: NodePath[]): Promise<string[]> => node.lookBy(channel, paths);
  const found = await checkRemoteData(data, look, profile.name);
  if (kind === 'train') found.push(await tryTrainer(node, channel, runtimes.get(node)));
  return found.map((result) => ({ ...result, host: node.name }));
}

/** A mirror copies the folders of those runs alone that it has a part in. */
export function mirrorLeftOut({ name, mirror }: Profile, taken: readonly string[]): CheckResult[] {
  if (mirror === undefined || taken.includes(mirror)) return [];
  const what = `${mirror} has no part in this run, so nobody keeps a copy of its folder`;
  const hint = `Start it with ${mirror} where its checkpoints should outlive the head of ${name}`;
  return [{ ...warned('mirror', what, hint), host: mirror }];
}

/** A node that does not say what it is made of may still run: that is a warning here. */
async function comparedNodes(profile: Profile, asked: readonly CheckedNode[]): Promise<CheckResult[]> {
  const results = await lookAtNodes(profile, asked, []);
  return results.map((result) =>
    result.name === 'set-up' && !result.ok ? { ...result, ok: true, warning: true } : result,
  );
}

// A node that a run under way has lost joins it once more: what its first start did for it on that
// node is looked at, and made where a reboot has taken it away.
import { isDeepStrictEqual } from 'node:util';
import { assertPassed } from '../base/checks.js';
import { throwIfCancelled, UserError } from '../base/errors.js';
import { join } from '../base/nodePath.js';
import { placePackages } from '../environment/place.js';
import type { Progress } from '../base/progress.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { RunFile } from '../contracts/runSchema.js';
import { flagValue } from '../plan/request/flagValue.js';
import { usedDevice } from '../plan/request/recordedRun.js';
import { namedData, type NamedData } from '../plan/request/request.js';
import { givenWorkdir } from '../profiles/workdir.js';
import type { Packages } from '../setup/packages.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { checkPrograms } from './check/startChecks.js';
import { GpuLocks, takeGpus } from './gpus/gpuLocks.js';
import { withChannels } from './nodes/nodeChannels.js';
import { offerOf } from './nodes/offers.js';
import type { SshNode } from './nodes/sshNode.js';

/** A run's head, and the node that it has lost. */
interface LostNode {
  profile: Profile;
  head: SshNode;
  node: SshNode;
  /** Of the programs that this client puts on nodes. */
  hashes: NodeRuntime['hashes'];
  withPackages: <T>(task: (packages: Packages) => Promise<T>) => Promise<T>;
}

/** The packages of an own program, which the loss of a disk may have taken away. */
async function placeAgain(
  { environment: record }: RunFile,
  profile: Profile,
  node: SshNode,
  { withPackages, progress }: Pick<LostNode, 'withPackages'> & { progress: Progress },
): Promise<void> {
  if (!record) return;
  const place = { profile, nodes: [node], workdir: givenWorkdir(profile) };
  await withPackages((installer) => placePackages({ record }, { ...place, installer }, progress));
}

type RecordedNode = NonNullable<RunFile['nodes']>[number];

/**
 * Programs, data and GPUs as at the start, then `run.join`, which leaves an `agent join` alone that
 * lives on the node. UserError (preflight) where the node cannot take part as it did, (connection);
 * AgentError, GpuTaken, Cancelled.
 */
export async function joinAgain(
  { id, dir, run, state }: RunEntry,
  { profile, head, node, hashes, withPackages }: LostNode,
  progress: Progress,
): Promise<void> {
  const recorded = run?.nodes?.find(({ host }) => host === node.name);
  const address = run?.nodes?.[0]?.address;
  if (!run || !recorded || address === undefined || node === head) return;
  assertSameVersion(run, hashes, node.name);
  const client = await node.node.client();
  const cuda = isOurs(run) && usedDevice(run) === 'cuda';
  const runtime = await withPackages((packages) => node.prepare(packages, progress, { cuda }));
  await assertReady(run, profile, node, runtime);
  await placeAgain(run, profile, node, { withPackages, progress });
  throwIfCancelled(progress.signal);
  const isQueued = state?.phase === 'queued'; // it takes them itself, in its turn
  const locks = isQueued ? new GpuLocks() : await takeAgain(recorded, node);
  try {
    throwIfCancelled(progress.signal);
    // As late as can be: the run may be over by now, or be started anew with another key.
    const { port, key, nodes } = await (await head.node.client()).request('run.joining', { dir });
    if (nodes.find(({ host }) => host === node.name)?.state !== 'lost') return;
    const { agent, trainer, runtimeDir } = runtime;
    const paths = { agent, trainer, proxy: join(runtimeDir, 'bin', 'hydra_pmi_proxy') };
    const own = { workdir: givenWorkdir(profile), id, host: node.name, key, paths };
    const toHead = { head: { address, port }, again: true } as const;
    await client.request('run.join', { ...own, ...toHead, ...locks.of(node.name) });
  } finally {
    await locks.giveBack();
  }
}

/** The protocol between `agent join` and the supervisor may change with every version. */
function assertSameVersion({ hashes: before }: RunFile, now: NodeRuntime['hashes'], host: string): void {
  if (isDeepStrictEqual(before, now)) return;
  const what = `${host} cannot join again from here: another version of Trainyard started the run`;
  throw new UserError('preflight', what, 'Follow the run with the version that started it');
}

const isOurs = ({ program, argv, paths }: RunFile): boolean =>
  program === 'trainer' || argv[0] === paths.trainer;

/** Data on the node's own disk may be gone, or that of a file server not be there yet. */
async function assertReady(
  run: RunFile,
  profile: Profile,
  node: SshNode,
  runtime: NodeRuntime,
): Promise<void> {
  const kind = run.program === 'trainer' ? 'train' : 'command';
  const request = { profile, kind, data: dataOf(run) } as const;
  await withChannels([node], async ([asked]) => {
    if (asked) assertPassed(await checkPrograms(request, new Map([[node, runtime]]), asked));
  });
}

function dataOf(run: RunFile): NamedData[] {
  if (!isOurs(run)) return [];
  const names = ['data', 'eval-data'] as const;
  return names.flatMap((name) => namedData(name, flagValue(run.argv, `--${name}`)));
}

/** The GPUs that the run had there, and no others. */
async function takeAgain(recorded: RecordedNode, node: SshNode): Promise<GpuLocks> {
  const offer = await offerOf(node.node, node.host, node.address);
  for (const index of recorded.gpus ?? []) {
    const gpu = offer.gpus.find((each) => each.index === index);
    const why =
      gpu === undefined ? 'is not there' : gpu.busy === undefined ? undefined : `is taken by ${gpu.busy}`;
    if (why === undefined) continue;
    const what = `${node.name} cannot join again: its GPU ${index} ${why}`;
    throw new UserError('preflight', what, 'It joins once its GPUs are free');
  }
  return takeGpus({ placement: { nodes: [recorded] }, offers: [offer] }, () => node.node, undefined);
}

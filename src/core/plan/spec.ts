// From what the user asks for to the spec that `run.start` takes.
import { randomBytes } from 'node:crypto';
import { userHere } from '../base/userHere.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { priceOf } from '../cost/runCost.js';
import { portRangeOf } from '../contracts/ports.js';
import { librariesOf } from './cudaTrial.js';
import type { PlacedRun } from './device.js';
import type { GpuDemand } from './gpuQueue.js';
import type { Placement } from './placement.js';
import { originOf } from './origin.js';
import { assertDebuggedRank } from './request/debugWish.js';
import { argvOf, type RunRequest } from './request/request.js';
import { headAddress } from './headAddress.js';
import { isSpare, startsRanks } from '../contracts/slots.js';
import type { Profile } from '../contracts/profileSchema.js';
import { notifyKinds } from '../contracts/notifySchema.js';
import type { StartSpec } from '../contracts/runSchema.js';
import type { NodePath } from '../base/nodePath.js';
import { onHead } from './evaluated.js';

/** Where the ranks go, on what they compute, and what they start from. */
export interface RunPlace extends Pick<PlacedRun, 'placement' | 'choice'> {
  runtime: NodeRuntime;
  /** The GPUs for which it waits by itself, on each node. */
  queued?: readonly GpuDemand[] | undefined;
  /** Of a cluster the home folder on its head; undefined on this machine. */
  home?: NodePath;
}

/**
 * Builds the spec; a run in a folder that the user named gets its id from the agent, which keeps
 * that of an earlier run there. UserError (usage) where the rank to debug is none of the run.
 */
export function planRun(
  request: RunRequest,
  { placement, choice, runtime, queued, home }: RunPlace,
): StartSpec {
  const { profile, label, about, runDir } = request;
  const { nodes, ranks, threadsPerRank } = placement;
  assertDebuggedRank(request, ranks);
  const price = priceOf(profile);
  const withRanks = nodes.filter(startsRanks).length;
  const spares = nodes.filter(isSpare).length;
  const from = request.kind === 'train' ? originOf(request.argv) : undefined;
  const evaluatedOn = request.kind === 'train' ? request.evaluatedOn : undefined;
  return {
    version: 1,
    label,
    ...(about === undefined ? {} : { about }),
    ...(runDir === undefined ? { id: newRunId(label) } : { dir: runDir }),
    profile: { name: profile.name, kind: profile.kind },
    program: request.kind === 'train' ? 'trainer' : 'command',
    argv: argvOf(request, runtime.trainer, choice?.used),
    ...(request.kind === 'command' && request.cwd !== undefined ? { cwd: request.cwd } : {}),
    ...(request.kind === 'command' && request.logdir !== undefined ? { logdir: request.logdir } : {}),
    ...(request.kind === 'command' && request.share !== undefined ? { share: request.share } : {}),
    ...(choice === undefined ? {} : { device: choice }),
    ranks,
    ...perNodeFields(request, placement),
    ...(profile.prologue === undefined ? {} : { prologue: profile.prologue }),
    ...(request.hosts === undefined ? {} : { hostsAsked: [...request.hosts] }),
    ...(request.gpus === undefined ? {} : { gpusAsked: request.gpus.text }),
    ...(price === undefined ? {} : { price }),
    ...(request.budget === undefined ? {} : { budget: request.budget }),
    ...(from === undefined ? {} : { from }),
    ...(request.report === undefined ? {} : { report: request.report }),
    ...queueFields(request, queued),
    threadsPerRank,
    ...(request.kind === 'command' && request.debug ? { debug: request.debug } : {}),
    // The nodes of a cluster have libraries of their own, each at its place.
    env: { ...(home === undefined ? librariesOf(runtime) : {}), ...profile.env },
    evaluator:
      evaluatedOn === undefined
        ? null
        : evaluatorOn(onHead(evaluatedOn, home), choice?.used === 'cuda' ? threadsPerRank : 1),
    tensorboard: request.tensorboard,
    paths: {
      trainer: runtime.trainer,
      mpiexec: runtime.mpiexec,
      agent: runtime.agent,
      python: runtime.python,
      tensorboardServer: runtime.tensorboardServer,
    },
    hashes: runtime.hashes,
    limits: {
      hangTimeout: profile.hangTimeout ?? 300,
      startTimeout: 60,
      nodeReturnTimeout: profile.nodeReturnTimeout ?? 600,
      maxRestarts: profile.maxRestarts ?? spares,
      ...(request.kind === 'command' ? { stopGrace: profile.stopGrace ?? 30 } : {}),
      ...(request.kind === 'command' && request.silenceTimeout !== undefined
        ? { silenceTimeout: request.silenceTimeout }
        : {}),
      ...(request.timeLimit === undefined ? {} : { timeLimit: request.timeLimit }),
    },
    ...(profile.notify === undefined || request.report !== undefined
      ? {}
      : { notify: { ...profile.notify, on: profile.notify.on ?? [...notifyKinds] } }),
    ...(home === undefined
      ? { launcher: 'fork', gpus: nodes[0]?.gpus ?? null }
      : {
          launcher: 'manual',
          nodes: withHeadAddress(nodes, profile),
          interface: profile.interface ?? 'auto',
          portRange: portRangeOf(profile),
          minNodes: Math.min(profile.minNodes ?? withRanks, withRanks),
          ...mirrorAmong(nodes, profile),
        }),
    totalSteps: null,
  };
}

/** Of a run that waits by itself. */
function queueFields({ slots }: RunRequest, queued: readonly GpuDemand[] = []): Pick<StartSpec, 'queue'> {
  if (slots === undefined && queued.length === 0) return {};
  const nodes = queued.map(({ host, gpus }) => ({ host, gpus }));
  const queue = { by: userHere(), ...(nodes.length === 0 ? {} : { nodes }), ...(slots ? { slots } : {}) };
  return { queue };
}

/** Of a run with one process on each node; on one machine its workers are at the top. */
function perNodeFields(request: RunRequest, { nodes }: Placement): Pick<StartSpec, 'perNode' | 'workers'> {
  if (request.kind === 'train' || !request.perNode) return {};
  const workers = request.profile.kind === 'local' ? nodes[0]?.workers : undefined;
  return { perNode: true, ...(workers === undefined ? {} : { workers }) };
}

/** The node that keeps a copy of the run folder, where it is one of the run's and not its head. */
function mirrorAmong([, ...others]: Placement['nodes'], { mirror }: Profile): Pick<StartSpec, 'mirror'> {
  return mirror !== undefined && others.some(({ host }) => host === mirror) ? { mirror } : {};
}

/**
 * The evaluator computes on the CPU. Ranks on GPUs leave it half of a rank's cores, the other half
 * decodes images; ranks on the CPU leave it one thread.
 */
function evaluatorOn(data: string, cores: number): NonNullable<StartSpec['evaluator']> {
  const threads = Math.max(1, Math.floor(cores / 2));
  return {
    argv: ['eval', '--data', data, '--interval', '2', '--threads', String(threads)],
    threads,
    nice: 19,
  };
}

function withHeadAddress(nodes: Placement['nodes'], { hosts = [] }: Profile): Placement['nodes'] {
  const [head, ...others] = nodes;
  if (!head) return nodes;
  const host = hosts.find((each) => each.host === head.host);
  return [{ ...head, address: headAddress(host, head.address, nodes.length) }, ...others];
}

/** `YYYYMMDD-HHMMSS-<label>-<4 hex>` in UTC: sorts by time. */
export function newRunId(label: string, now = new Date()): string {
  const digits = now.toISOString().replace(/[-:]/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(9, 15)}-${label}-${randomBytes(2).toString('hex')}`;
}

// From what the user asked to the spec that `run.start` takes.
import { randomBytes } from 'node:crypto';
import { UserError } from '../base/errors.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { portRangeOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { Placement } from './placement.js';
import {
  absolutePaths,
  cleanLabel,
  flagValue,
  runLabel,
  trainerWords,
  withoutFlag,
  usesEverySlot,
} from './flags.js';
import type { StartSpec } from '../contracts/runSchema.js';
import { isInHome, nodePath, pathOfThisNode, resolve, withHome, type NodePath } from '../base/nodePath.js';

export interface RunRequest {
  profile: Profile;
  /** A trainer verb and its flags, or any command. */
  words: readonly string[];
  /** Folder against which relative paths among the words are read. */
  cwd: string;
  ranks?: number;
  /** How many of the profile's nodes to use. */
  nodes?: number;
  name?: string;
  tensorboard?: boolean;
  evaluator?: boolean;
  /** The run folder, as `--run-dir` among the trainer's flags. */
  runDir?: NodePath;
}

/** What the node has to offer. */
export interface NodeCapacity {
  cores: number;
  gpus: number;
}

/** How many ranks fit, and why: for the default, and for the message when more are asked. */
export interface Slots {
  count: number;
  reason: string;
}

/** GPUs, when the run wants them; else the profile's slots; else one rank a core. */
export function slotsFor(profile: Profile, words: readonly string[], capacity: NodeCapacity): Slots {
  const host = profile.hosts?.[0];
  if (flagValue(words, '--device') === 'cuda') {
    const listed = host?.gpus?.length ?? capacity.gpus;
    const count = Math.min(listed, host?.slots ?? listed);
    return { count, reason: `${plural(count, 'GPU')} on this machine` };
  }
  if (host?.slots !== undefined) {
    return { count: host.slots, reason: `profile ${profile.name} gives it ${plural(host.slots, 'slot')}` };
  }
  return { count: capacity.cores, reason: `${plural(capacity.cores, 'core')} on this machine` };
}

/** Where the ranks of a run on a cluster go, and what its paths are read against. */
export interface ClusterPlan {
  placement: Placement;
  /** Home folder on the head. */
  home: NodePath;
}

/**
 * Builds the spec; a run in a folder that the user named gets its id from the agent, which keeps
 * that of an earlier run there. UserError: usage for words that make no run; preflight when more
 * ranks are wanted than fit.
 */
export function planRun(
  request: RunRequest,
  runtime: NodeRuntime,
  capacity: NodeCapacity,
  cluster?: ClusterPlan,
): StartSpec {
  const { profile } = request;
  const cwd = cluster ? nodePath('~') : pathOfThisNode(request.cwd); // a folder of the user's machine means nothing on a node
  const words = request.words[0] === 'trainer' ? request.words.slice(1) : [...request.words];
  const verb = words[0];
  if (verb === undefined) {
    throw new UserError('usage', 'there is nothing to run', { kind: 'nameCommand' });
  }
  const trains = verb === 'train';
  const ranks = cluster?.placement.ranks ?? chooseRanks(request, words, capacity);
  const dir = request.runDir ?? (trains ? flagValue(words, '--run-dir') : undefined);
  const argv = commandLine(words, runtime.trainer, cwd);
  const evalData = trains && request.evaluator !== false ? flagValue(argv, '--eval-data') : undefined;
  const label = request.name === undefined ? runLabel(words) : cleanLabel(request.name);
  if (label === '') {
    throw new UserError('usage', `the name ${request.name ?? ''} has no letter or digit`, 'Choose another');
  }
  return {
    version: 1,
    label,
    ...(dir === undefined ? { id: newRunId(label) } : { dir: resolve(cwd, dir) }),
    profile: { name: profile.name, kind: profile.kind },
    program: trains ? 'trainer' : 'command',
    argv,
    ...(trains || cluster ? {} : { cwd }),
    ranks,
    threadsPerRank: cluster?.placement.threadsPerRank ?? Math.max(1, Math.floor(capacity.cores / ranks)),
    env: profile.env ?? {},
    evaluator:
      evalData !== undefined
        ? { argv: ['eval', '--data', onHead(evalData, cluster), ...evaluatorFlags], threads: 1, nice: 19 }
        : null,
    tensorboard: request.tensorboard ?? false,
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
      maxRestarts: profile.maxRestarts ?? 0,
    },
    ...(cluster
      ? {
          launcher: 'manual',
          nodes: cluster.placement.nodes,
          interface: profile.interface ?? 'auto',
          portRange: portRangeOf(profile),
          minNodes: Math.min(
            profile.minNodes ?? cluster.placement.nodes.length,
            cluster.placement.nodes.length,
          ),
        }
      : { launcher: 'fork', gpus: ownGpus(profile, words, ranks) }),
    totalSteps: null,
  };
}

/** Without a list in the profile every rank takes the GPU of its number. */
function ownGpus(profile: Profile, words: readonly string[], ranks: number): number[] | null {
  const listed = flagValue(words, '--device') === 'cuda' ? profile.hosts?.[0]?.gpus : undefined;
  return listed ? listed.slice(0, ranks) : null;
}

const evaluatorFlags = ['--interval', '2', '--threads', '1'];

/** The evaluator runs on the head, and is given whole paths. */
function onHead(path: string, cluster: ClusterPlan | undefined): string {
  return cluster && isInHome(path) ? withHome(cluster.home, path) : path;
}

/**
 * Training owns the run folder, which the supervisor names to it. Every other verb of the trainer
 * is a command: its `--run-dir`, where it takes one, is that of the training it looks at.
 */
function commandLine(words: readonly string[], trainer: NodePath, cwd: NodePath): string[] {
  const own = trainerWords(words);
  if (!own) return [...words];
  if (own[0] === 'train') return absolutePaths(withoutFlag(words, '--run-dir'), cwd);
  return [trainer, ...absolutePaths(words, cwd)];
}

/**
 * Every slot for what computes on all of them; every other verb, and a command, is one process
 * unless the user says otherwise.
 */
function chooseRanks(request: RunRequest, words: readonly string[], capacity: NodeCapacity): number {
  const slots = slotsFor(request.profile, words, capacity);
  const wantsGpus = flagValue(words, '--device') === 'cuda';
  if (wantsGpus && slots.count === 0) {
    const hint = { kind: 'useCpu', or: 'profileWithGpus' } as const;
    throw new UserError('preflight', 'this machine has no GPU that can be used', hint);
  }
  const named = request.profile.hosts?.[0]?.slots !== undefined || wantsGpus;
  const usual = usesEverySlot(words) ? (named ? slots.count : Math.min(2, capacity.cores)) : 1;
  const ranks = request.ranks ?? usual;
  if (ranks <= slots.count) return ranks;
  throw new UserError(
    'preflight',
    `${ranks} ranks were asked for, and there is room for ${slots.count}: ${slots.reason}`,
    { kind: 'fewerRanks', profile: request.profile.name, ranks: slots.count, words, moreSlots: true },
  );
}

/** `YYYYMMDD-HHMMSS-<label>-<4 hex>` in UTC: sorts by time. */
export function newRunId(label: string, now = new Date()): string {
  const digits = now.toISOString().replace(/[-:]/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(9, 15)}-${label}-${randomBytes(2).toString('hex')}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

// The run that a command line asks for.
import { resolve } from 'node:path';
import { UserError } from '../core/base/errors.js';
import { snapshotFor } from '../core/cluster/nodes/startCode.js';
import type { RunCode } from '../core/code/place.js';
import type { Profile } from '../core/contracts/profileSchema.js';
import type { AskedRun } from '../core/plan/request/commandLine.js';
import { gpuWishOf } from '../core/plan/request/gpuWish.js';
import { hostListOf } from '../core/plan/request/hostWish.js';
import type { TypedRun } from '../core/plan/request/request.js';
import { parseStage } from '../core/stage/spec.js';
import { countOf, type Args } from './args.js';
import type { Context } from './context.js';
import { wishesOf } from './wishes.js';

/**
 * What stands on the command line, and before it what a preset says. UserError (usage) for a number
 * that is none.
 */
export function typedRun(profile: Profile, folder: string, args: Args, preset?: AskedRun): TypedRun {
  const ranks = args.value('ranks');
  const nodes = args.value('nodes');
  const hosts = args.value('hosts');
  const gpus = args.value('gpus');
  const name = args.value('name');
  const notes = args.value('notes');
  const runDir = args.value('run-dir');
  const logdir = args.value('logdir');
  const stage = args.value('stage');
  const debug = args.value('debug');
  if (preset && args.rest.length > 0) {
    const hint = 'Leave out what stands after --, or --preset';
    throw new UserError('usage', 'a preset has a command of its own', hint);
  }
  const { cwd = '.', ...kept }: Partial<AskedRun> = preset ?? {};
  delete kept.codeFolder; // its content is looked up by whoever starts the run
  // A run has one of the two.
  if (hosts !== undefined) delete kept.nodes;
  if (nodes !== undefined) delete kept.hosts;
  return {
    ...kept,
    words: kept.words ?? args.rest,
    profile,
    cwd: resolve(folder, cwd),
    tensorboard: args.has('tensorboard') || kept.tensorboard === true,
    wait: args.has('wait') || kept.wait === true,
    detached: args.has('detach'),
    evaluator: !args.has('no-evaluator') && kept.evaluator !== false,
    ...(ranks === undefined ? {} : { ranks: countOf('--ranks', ranks, 2) }),
    ...(nodes === undefined ? {} : { nodes: countOf('--nodes', nodes, 2) }),
    ...(hosts === undefined ? {} : { hosts: hostListOf(hosts, '--hosts') }),
    ...perOf(args),
    ...(gpus === undefined ? {} : { gpus: gpuWishOf(gpus, '--gpus').text }),
    ...(name === undefined ? {} : { name }),
    ...(args.has('tag') ? { tags: args.all('tag') } : {}),
    ...(notes === undefined ? {} : { notes }),
    ...(runDir === undefined ? {} : { runDir }),
    ...(logdir === undefined ? {} : { logdir }),
    ...(stage === undefined ? {} : { stage: parseStage(stage) }),
    ...(debug === undefined ? {} : { debug: rankOf(debug) }),
    ...wishesOf(args, folder, kept),
  };
}

function rankOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new UserError(
    'usage',
    `--debug must be the number of a rank, not "${text}"`,
    'Write, say, --debug 0',
  );
}

function perOf(args: Args): Pick<TypedRun, 'per'> {
  const node = args.has('per-node');
  const slot = args.has('per-slot');
  if (node && slot) {
    throw new UserError('usage', '--per-node and --per-slot were both given', 'Give one of them');
  }
  return node ? { per: 'node' } : slot ? { per: 'slot' } : {};
}

/**
 * The folder as it is now; what stays at home is said. Where hosts are named, the start logs in: it
 * knows which ones to leave alone. UserError (usage, connection), Cancelled.
 */
export async function codeOf(
  context: Context,
  { hosts }: Pick<TypedRun, 'hosts'>,
  folder: string | undefined,
): Promise<RunCode | undefined> {
  if (folder === undefined) return undefined;
  const machine = hosts === undefined ? context.machine : {};
  const snapshot = await context.withProgress((progress) =>
    snapshotFor(machine, resolve(context.cwd, folder), { cache: context.cache, ...progress }),
  );
  for (const note of snapshot.notes) context.output.note(note);
  return { record: snapshot.record, snapshot };
}

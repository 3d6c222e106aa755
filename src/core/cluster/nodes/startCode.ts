// The start of a run together with its code and its packages.
import { AgentError } from '../../agent/agentClient.js';
import { UserError } from '../../base/errors.js';
import type { NodePath } from '../../base/nodePath.js';
import { sharedAbort } from '../../base/lifecycle.js';
import type { Logger } from '../../base/log.js';
import type { Progress } from '../../base/progress.js';
import { dropCode, placeCode, type RunCode } from '../../code/place.js';
import { takeSnapshot, type CodeSnapshot, type SnapshotOptions } from '../../code/snapshot.js';
import type { RunDetails } from '../../contracts/agentApi.js';
import { startsOf } from '../../cost/runCost.js';
import { placePackages, type RunPackages } from '../../environment/place.js';
import { readRequirements } from '../../environment/requirements.js';
import { hasRanks } from '../../contracts/slots.js';
import type { EnvironmentRecord, StartSpec } from '../../contracts/runSchema.js';
import { meantVerb } from '../../plan/request/flags.js';
import type { RunRequest } from '../../plan/request/request.js';
import { newRunId } from '../../plan/spec.js';
import type { Machine } from './machine.js';
import type { Installer } from '../../setup/packages.js';
import type { RelayNode } from '../../setup/relay.js';

/** What is to be started, and where. */
export interface CodeStart {
  request: RunRequest;
  spec: StartSpec;
  /** What an earlier run left in the folder that the user named. */
  before: RunDetails | undefined;
  /** The head first. */
  nodes: readonly RelayNode[];
  /** The profile's, `~` standing for each node's home folder. */
  workdir: NodePath;
  /** For the packages of an own program. */
  withPackages: (task: (installer: Installer) => Promise<EnvironmentRecord>) => Promise<EnvironmentRecord>;
  logger: Logger;
}

/**
 * Takes the snapshot of a code folder, and logs in on all of the machine's nodes meanwhile, where
 * it has `connectHead`. UserError (usage) for a folder that cannot be sent, (connection);
 * Cancelled.
 */
export async function snapshotFor(
  machine: Pick<Machine, 'connectHead'>,
  folder: string,
  options: SnapshotOptions,
): Promise<CodeSnapshot> {
  const abort = sharedAbort();
  const cancel = (): void => {
    abort.abort();
  };
  options.signal?.addEventListener('abort', cancel, { once: true });
  if (options.signal?.aborted === true) cancel();
  const taken = takeSnapshot(folder, { ...options, signal: abort.signal });
  const connected = machine.connectHead?.(abort.signal);
  try {
    const [snapshot] = await Promise.all([taken, connected]);
    return snapshot;
  } catch (error) {
    cancel(); // who is asked for a password need not answer any more
    await Promise.allSettled([taken, connected]);
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', cancel);
  }
}

/** The code that was given, else that of the earlier run in the same folder. */
function codeOf(request: RunRequest, before: RunDetails | undefined): RunCode | undefined {
  if (request.kind !== 'command' || request.ofTrainer) return undefined;
  const record = before?.run?.code;
  return request.code ?? (record && { record });
}

/**
 * UserError (usage) where the requirements of a request cannot be sent; Cancelled. To be asked
 * before anything is done.
 */
export async function assertRequirements(request: RunRequest, { signal }: Progress): Promise<void> {
  if (request.kind === 'command' && request.requirements !== undefined) {
    await readRequirements(request.requirements, signal);
  }
}

/** The packages that are asked for, else those of the earlier run in the same folder. */
async function packagesOf(
  request: RunRequest,
  before: RunDetails | undefined,
  { signal }: Progress,
): Promise<RunPackages | undefined> {
  if (request.kind !== 'command' || request.ofTrainer) return undefined;
  if (request.requirements !== undefined) {
    return { requirements: await readRequirements(request.requirements, signal) };
  }
  const record = before?.run?.environment;
  return record && { record };
}

/** Time and price of the earlier starts in the same folder count on. */
function withEarlierStarts(spec: StartSpec, before: RunDetails | undefined): StartSpec {
  const earlier = before ? startsOf(before.run, before.state) : [];
  return earlier.length === 0 ? spec : { ...spec, earlier };
}

/** Without a head that has no ranks, and so needs no packages. */
const withRanks = (nodes: readonly RelayNode[], spec: Pick<StartSpec, 'nodes'>): readonly RelayNode[] =>
  nodes.filter(({ name }) => spec.nodes?.some((node) => node.host === name && !hasRanks(node)) !== true);

/**
 * Puts packages and code there, where the run has any, and starts the run by `start`. Where that
 * fails the code goes again. UserError (usage, connection, preflight), Cancelled, and what `start`
 * throws.
 */
export async function startWithCode<T>(
  { request, spec: planned, before, nodes, workdir, withPackages, logger }: CodeStart,
  start: (spec: StartSpec) => Promise<T>,
  progress: Progress,
): Promise<T> {
  const packages = await packagesOf(request, before, progress);
  const place = { profile: request.profile, nodes: withRanks(nodes, planned), workdir };
  const environment =
    packages &&
    (await withPackages((installer) => placePackages(packages, { ...place, installer }, progress)));
  const spec = { ...withEarlierStarts(planned, before), ...(environment ? { environment } : {}) };
  const code = codeOf(request, before);
  if (!code) return start(spec).catch((error: unknown) => rethrown(error, request));
  const { runDir, profile } = request;
  const id = before?.run?.id ?? spec.id ?? newRunId(spec.label);
  const run = { profile, workdir, id, logger };
  const targets = nodes.map((node, index) => ({
    node,
    ...(index === 0 && runDir !== undefined ? { dir: runDir } : {}),
  }));
  const dir = await placeCode(targets, code, run, progress);
  try {
    return await start({ ...spec, cwd: undefined, id, dir, code: code.record });
  } catch (error) {
    await dropCode(targets, run);
    return rethrown(error, request);
  }
}

/**
 * Names the verb of the trainer that was meant by a program that is not there. UserError
 * (preflight).
 */
function rethrown(error: unknown, request: RunRequest): never {
  const [word = ''] = request.kind === 'command' && !request.ofTrainer ? request.argv : [];
  const verb = meantVerb(word);
  if (!(error instanceof AgentError) || verb === undefined) throw error;
  const [what = ''] = error.message.split('. ');
  if (!what.startsWith(`${word} is not on PATH`)) throw error;
  throw new UserError('preflight', what, `Did you mean ${verb}?`, { cause: error });
}

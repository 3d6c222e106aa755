// One short run of a measurement: an ordinary run that is started, and followed until it is over.
import { AgentError } from '../agent/agentClient.js';
import { Cancelled, throwIfCancelled, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import type { Machine } from '../cluster/nodes/machine.js';
import { agentErrors, type RunDetails } from '../contracts/agentApi.js';
import type { HostLine, StartLine, StepLine } from '../contracts/metricsSchema.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { ReportRecord } from '../contracts/runSchema.js';
import { deleteRunFolders } from '../follow/deletion.js';
import { RunFollower } from '../follow/run.js';
import { outputFiles } from '../follow/runOutput.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { commandLineOf, type AskedRun } from '../plan/request/commandLine.js';
import { requestOf, type Device } from '../plan/request/request.js';

/** Where the runs of a measurement go. */
export interface RunPlace {
  machine: Machine;
  profile: Profile;
  /** Folder of this machine, against which paths are read. */
  cwd: string;
  keepRuns: boolean;
  /** Each run as it starts. */
  onRun: (id: string, dir: NodePath) => Promise<void>;
  signal?: AbortSignal;
  logger?: Logger;
}

/** Which run. */
export interface AskedShortRun {
  words: readonly string[];
  /** Left out: one on each node, of what is no training. */
  ranks?: number;
  name: string;
  tag: string;
  /** The report that it is a part of. */
  report?: ReportRecord;
  /** Seconds after which the run stops by itself, also where nobody follows it any more. */
  timeLimit?: number;
  /**
   * Whether these steps suffice, so that the run is stopped. Left out: it goes on to its own end.
   */
  enough?: (steps: readonly StepLine[]) => boolean;
}

/** What a run that is over told. */
export interface ShortRun {
  details: RunDetails;
  device: Device | undefined;
  command: string;
  start: StartLine | undefined;
  steps: StepLine[];
  /** Of every rank, in the order of the file. */
  hosts: HostLine[];
  /** Lines of a command that is no training. */
  printed: string[];
}

/** The command line that starts the same run. */
export const commandOf = ({ name: profile }: Profile, asked: AskedShortRun): string =>
  commandLineOf({ profile, ...typedOf(asked) });

const typedOf = ({ words, ranks, name, tag }: AskedShortRun): Omit<AskedRun, 'profile' | 'timeLimit'> => ({
  ...{ words, name },
  ...(ranks === undefined ? {} : { ranks }),
  tags: [tag],
  evaluator: false,
});

/** Starts a run and stays until it is over. UserError (failed) where it failed, Cancelled. */
export async function shortRun(place: RunPlace, asked: AskedShortRun): Promise<ShortRun> {
  const { machine, profile, cwd, signal, logger = nullLogger } = place;
  const { enough, timeLimit, report } = asked;
  const more = {
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(report === undefined ? {} : { report }),
  };
  const typed = requestOf({ ...typedOf(asked), ...more, profile: { ...profile, spares: undefined }, cwd });
  const isOneEach = asked.ranks === undefined && typed.kind === 'command';
  const request = isOneEach ? { ...typed, oneEach: true } : typed;
  const started = await machine.start(request, signal === undefined ? {} : { signal });
  await place.onRun(started.id, started.dir);
  let begun: StartLine | undefined;
  const steps: StepLine[] = [];
  const hosts: HostLine[] = [];
  const printed: string[] = [];
  let stopping: Promise<void> | undefined;
  const output = outputFiles((_, text) => printed.push(text));
  const follower = new RunFollower({
    dir: started.dir,
    client: () => machine.node.client(),
    logger,
    pollInterval: 250,
    extras: request.kind === 'train' ? () => [] : output,
  });
  const giveUp = (): void => {
    follower.dispose();
  };
  follower.onMetric(({ value }) => {
    if (value?.kind === 'start') begun = value;
    if (value?.kind === 'host') hosts.push(value);
    if (value?.kind !== 'step') return;
    steps.push(value);
    if (stopping || enough?.(steps) !== true) return;
    stopping = machine.stop(started.dir, 'now');
    stopping.catch(giveUp); // nothing would end the run; awaited below
  });
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    throwIfCancelled(signal);
    const details = await follower.follow();
    await stopping;
    const status = statusOf(details);
    const ended = status === 'finished' || (stopping !== undefined && status === 'stopped');
    if (!ended) throw failure(details, started.dir);
    if (!place.keepRuns && statusOf(details) !== 'failed') await deleteRunFolders(machine, profile, details);
    const command = commandOf(profile, asked);
    return { details, device: started.device, command, start: begun, steps, hosts, printed };
  } catch (error) {
    if (signal?.aborted !== true) {
      await stopping;
      throw error;
    }
    await machine.stop(started.dir, 'now');
    throw new Cancelled();
  } finally {
    signal?.removeEventListener('abort', giveUp);
    follower.dispose();
  }
}

/**
 * A run that nobody follows any more, since this side was ended, is stopped, and deleted as others
 * are: one that failed stays.
 */
export async function endLeftRun(place: RunPlace, dir: NodePath): Promise<void> {
  const { machine, profile, logger = nullLogger } = place;
  const client = await machine.node.client();
  let details: RunDetails;
  try {
    details = await client.request('run.get', { dir });
  } catch (error) {
    if (error instanceof AgentError && error.code === agentErrors.notFound) return; // it was deleted
    throw error;
  }
  if (!isOver(statusOf(details))) {
    await machine.stop(dir, 'now');
    const follower = new RunFollower({ dir, client: () => machine.node.client(), logger, extras: () => [] });
    try {
      details = await follower.follow();
    } finally {
      follower.dispose();
    }
  }
  if (!place.keepRuns && statusOf(details) !== 'failed') await deleteRunFolders(machine, profile, details);
}

function failure({ id, state }: RunDetails, dir: NodePath): UserError {
  const why = state?.reason ?? 'it did not finish';
  return new UserError('failed', `run ${id} failed: ${why}`, `Its folder is ${dir}`);
}

// A rank that waits for a debugger, as a port of this machine. After a restart of the run the same
// port leads to the rank's new process.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentClient } from '../agent/agentClient.js';
import { lastEvents } from '../agent/journal.js';
import { throwIfCancelled, UserError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { RunEvent, RunFile } from '../contracts/runSchema.js';
import { isBeforeStart, isOver, statusOf } from '../model/runStatus.js';
import { loopback } from './loopback.js';
import { PortForward } from './portForward.js';

/** The port that debuggers of Python know; the next ones follow while they are taken. */
const usualPort = 5678;
/** Milliseconds between two looks at the journal. */
const pause = 500;
/** Bytes at the end of a journal in which the event is looked for. */
const journalBytes = 4 * 1024 * 1024;

type WaitingRank = Extract<RunEvent, { kind: 'debugger_waiting' }>;

/** What VS Code's Python Debugger is started with, as launch.json has it. */
export interface AttachConfiguration {
  name: string;
  type: 'debugpy';
  request: 'attach';
  connect: { host: string; port: number };
  pathMappings?: { localRoot: string; remoteRoot: string }[];
}

/** Which rank can be attached to after these events; undefined where none can. */
export function waitingAfter(events: readonly RunEvent[]): WaitingRank | undefined {
  let waiting: WaitingRank | undefined;
  for (const event of events) {
    if (event.kind === 'debugger_waiting') waiting = event;
    else if (event.kind === 'started' || event.kind === 'finished') waiting = undefined;
    else if (event.kind === 'rank_exited' && event.rank === waiting?.rank) waiting = undefined;
  }
  return waiting;
}

/** The code folder of this machine stands for the one in which the program starts. */
export function attachConfiguration(
  { id, code }: Pick<RunFile, 'id' | 'code'>,
  { rank, folder }: Pick<WaitingRank, 'rank' | 'folder'>,
  port: number,
): AttachConfiguration {
  return {
    name: `Rank ${rank} of ${id}`,
    type: 'debugpy',
    request: 'attach',
    connect: { host: loopback, port },
    ...(code === undefined ? {} : { pathMappings: [{ localRoot: code.folder, remoteRoot: folder }] }),
  };
}

/** Owned by whoever opened it. */
export class DebugTunnel implements Disposable {
  private constructor(
    readonly forward: PortForward,
    readonly waiting: WaitingRank,
    readonly configuration: AttachConfiguration,
  ) {}

  /**
   * Opens once the rank of the run in `dir` waits. UserError (usage) where no rank of it does, or
   * will; Cancelled.
   */
  static async open(
    machine: Machine,
    dir: NodePath,
    { logger, onProgress, signal }: Progress & { logger?: Logger } = {},
  ): Promise<DebugTunnel> {
    for (;;) {
      throwIfCancelled(signal);
      const client = await machine.node.client();
      const details = await client.request('run.get', { dir });
      const { id, run } = details;
      if (!run?.debug) throw notDebugged(id);
      const waiting = await waitingRank(client, details);
      if (waiting) {
        const forward = await PortForward.open({
          port: usualPort,
          connect: async () => {
            const now = await waitingNow(machine, dir);
            return machine.connectPort(dir, now.host, now.port);
          },
          remote: `rank ${waiting.rank} on ${waiting.host}`,
          ...(logger === undefined ? {} : { logger }),
        });
        return new DebugTunnel(forward, waiting, attachConfiguration(run, waiting, forward.port));
      }
      assertUnderWay(details);
      onProgress?.(`waiting for rank ${run.debug.rank} to start`);
      await delay(pause);
    }
  }

  dispose(): void {
    this.forward.dispose();
  }
}

function notDebugged(id: string): UserError {
  const what = `${id} was started without a rank that waits for a debugger`;
  return new UserError('usage', what, 'Start it anew with one');
}

/** UserError (usage) for a run that is over. */
function assertUnderWay(details: RunDetails): void {
  const status = statusOf(details);
  if (!isOver(status)) return;
  const what = `${details.id} is ${status}: no rank of it waits for a debugger`;
  throw new UserError('usage', what, 'Start it anew');
}

/** UserError (usage) where the rank has ended, or has not started anew yet. */
async function waitingNow(machine: Machine, dir: NodePath): Promise<WaitingRank> {
  const client = await machine.node.client();
  const details = await client.request('run.get', { dir });
  const waiting = await waitingRank(client, details);
  if (waiting) return waiting;
  throw new UserError('usage', `no rank of ${details.id} waits for a debugger now`, 'Attach again later');
}

async function waitingRank(client: AgentClient, details: RunDetails): Promise<WaitingRank | undefined> {
  if (isOver(statusOf(details)) || isBeforeStart(details)) return undefined;
  return waitingAfter(await lastEvents(client, details, journalBytes));
}

// The web page that a program of a run serves (Jupyter, Gradio, a dashboard), at a port of this
// machine.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentClient } from '../../agent/agentClient.js';
import { errorText, throwIfCancelled, UserError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { join, type NodePath } from '../../base/nodePath.js';
import type { Progress } from '../../base/progress.js';
import type { Machine } from '../../cluster/nodes/machine.js';
import type { RunDetails } from '../../contracts/agentApi.js';
import { chooseLogs, rankOf, readLogLines, runLogs } from '../runLogs.js';
import { isOver, statusOf } from '../../model/runStatus.js';
import { loopback } from '../../tunnels/loopback.js';
import { PortForward } from '../../tunnels/portForward.js';
import { AddressChoice, type PrintedAddress } from './printedAddress.js';

/** Milliseconds between two looks at the logs. */
const pause = 1000;
/** Milliseconds after which an address at which nothing answers is an error. */
const patience = 10_000;
/** Bytes at the end of a log that are read. */
const mostBytes = 8 * 1024 * 1024;
/** Bytes that are read again: a line may have been half written. */
const overlap = 4096;
/** Ranks whose logs are read, where none is named. */
const mostRanks = 8;

/** Which page, where a run has several. */
export interface WebPageWish {
  /** The one that listens on this port of its node. */
  port?: number | undefined;
  /** Of this rank. */
  rank?: number | undefined;
}

/** A page that a rank serves. */
export interface ServedPage {
  rank: number;
  /** Of the rank, as the profile names it. */
  host: string;
  address: PrintedAddress;
  /** Whether it is on this machine. */
  isHere: boolean;
}

/**
 * Resolves once a rank of the run in `dir` has printed an address at which something answers.
 * UserError (usage) where none will, or can be reached from here, (failed) where nothing answers;
 * Cancelled.
 */
export async function findWebPage(
  machine: Machine,
  dir: NodePath,
  wish: WebPageWish = {},
  { onProgress, signal }: Progress = {},
): Promise<ServedPage> {
  const search = new Search(dir, wish);
  let seen: number | undefined;
  for (;;) {
    throwIfCancelled(signal);
    const client = await machine.node.client();
    const details = await client.request('run.get', { dir });
    assertServes(details);
    const found = await search.look(client, details);
    if (found) {
      seen ??= performance.now();
      const page = pageOf(details, found);
      const trouble = await troubleAt(machine, page);
      if (trouble === undefined) return page;
      if (performance.now() - seen > patience) throw silent(details.id, page, trouble);
    }
    const wanted = found ? 'answers at the address that it printed' : 'prints the address of a page';
    onProgress?.(`waiting until ${details.id} ${wanted}`);
    await delay(pause, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** Its address on this machine, where `port` leads to it; without, that of its own port. */
export const pageUrl = ({ address }: ServedPage, port = address.port): string =>
  `${address.scheme}://${loopback}:${port}${address.rest}`;

/** A port of this machine that leads to the page. Owned by whoever opened it. */
export function forwardPage(
  machine: Machine,
  { host, address: { port } }: ServedPage,
  logger: Logger,
): Promise<PortForward> {
  const connect = (): ReturnType<typeof machine.connectPort> => machine.connectPort(host, port);
  return PortForward.open({ port, connect, remote: `port ${port} of ${host}`, logger });
}

type Found = Pick<ServedPage, 'rank' | 'address'>;

/** Reads of each log what came since the last look. */
class Search {
  private readonly choices = new Map<string, AddressChoice>();
  private readonly ends = new Map<string, number>();

  constructor(
    private readonly dir: NodePath,
    private readonly wish: WebPageWish,
  ) {}

  /** Of the first rank that has printed one. */
  async look(client: AgentClient, { files }: RunDetails): Promise<Found | undefined> {
    const { rank: wanted, port } = this.wish;
    const all = runLogs(files);
    const isRank = ({ source }: (typeof all)[number]): boolean => rankOf(source) !== undefined;
    const logs = (wanted === undefined ? all : chooseLogs(all, [String(wanted)])).filter(isRank);
    for (const { file, source } of logs.slice(0, mostRanks)) {
      const choice = this.choices.get(file) ?? new AddressChoice(port);
      this.choices.set(file, choice);
      const size = files[file] ?? 0;
      const start = Math.max(0, size - mostBytes, (this.ends.get(file) ?? 0) - overlap);
      this.ends.set(file, size);
      await readLogLines(client, join(this.dir, file), { start, size }, ({ text }) => {
        choice.take(text);
      });
      const rank = rankOf(source) ?? 0;
      if (choice.address) return { rank, address: choice.address };
    }
    // A program need not print the port that somebody knows.
    const [first] = logs;
    if (port === undefined || !first) return undefined;
    return { rank: rankOf(first.source) ?? 0, address: { scheme: 'http', port, rest: '' } };
  }
}

/** UserError (usage) for a run that serves nothing, or is over. */
function assertServes(details: RunDetails): void {
  const status = statusOf(details);
  if (details.run?.program === 'trainer') {
    const what = `${details.id} is a training, which serves no page but that of TensorBoard`;
    throw new UserError('usage', what, 'Open its TensorBoard');
  }
  if (!isOver(status)) return;
  throw new UserError('usage', `${details.id} is ${status}: nothing of it serves a page`, 'Start it anew');
}

/** UserError (usage) where it cannot be reached from here. */
function pageOf({ id, run, state }: RunDetails, { rank, address }: Found): ServedPage {
  const host = state?.ranks.find((one) => one.rank === rank)?.host ?? '';
  const { port } = address;
  if (run?.profile.kind === 'slurm') {
    const what = `the page of ${id} is on ${host}, a compute node, which is reached through the login node`;
    const hint = `Let it listen on all addresses of its node, and open a tunnel ${port}:${host}:${port}`;
    throw new UserError('usage', what, hint);
  }
  return { rank, host, address, isHere: run?.profile.kind === 'local' };
}

/** Why a connection there fails; undefined where it does not. */
async function troubleAt(machine: Machine, { host, address }: ServedPage): Promise<unknown> {
  try {
    (await machine.connectPort(host, address.port)).destroy();
    return undefined;
  } catch (error) {
    return error;
  }
}

function silent(id: string, { rank, host, address }: ServedPage, cause: unknown): UserError {
  const where = `port ${address.port} of ${host}, where rank ${rank} of ${id} serves a page`;
  const what = `nothing answers at ${where}: ${errorText(cause)}`;
  return new UserError('failed', what, 'Look at what it prints', { cause });
}

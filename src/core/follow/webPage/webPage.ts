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
import { rankOf, readLogLines, runLogs } from '../runLogs.js';
import { isBeforeStart, isOver, statusOf } from '../../model/runStatus.js';
import { loopback } from '../../tunnels/loopback.js';
import { PortForward } from '../../tunnels/portForward.js';
import { AddressChoice, type PrintedAddress } from './printedAddress.js';

/** Milliseconds between two looks at the logs. */
const pause = 1000;
/** Milliseconds after which an address at which nothing answers is an error. */
const patience = 10_000;
/** The same where a queue takes the runs: its step to the node begins first. */
const patienceInJob = 30_000;
const patienceFor = (machine: Machine): number => (machine.batchScript ? patienceInJob : patience);
/** Bytes at the end of a log that are read, and at its beginning, where most programs say it. */
const mostBytes = 2 * 1024 * 1024;
const firstBytes = 64 * 1024;
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
  /** The run's folder. */
  dir: NodePath;
  rank: number;
  /** Of the rank, as the profile names it, or Slurm. */
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
  let tried = '';
  let since = 0;
  let said = '';
  for (;;) {
    throwIfCancelled(signal);
    const client = await machine.node.client();
    const details = await client.request('run.get', { dir });
    assertServes(details, wish);
    const found = isBeforeStart(details) ? undefined : await search.look(client, details, signal);
    const page = found && pageOf(machine, details, found);
    let wanted = 'prints the address of a page; where it prints none, name the port';
    if (page) {
      // A restart of the run is another try.
      const now = [details.state?.generation, page.rank, page.host, page.address.port].join(' ');
      if (now !== tried) since = performance.now();
      tried = now;
      const trouble = await troubleAt(machine, page);
      if (trouble === undefined) return page;
      if (performance.now() - since > patienceFor(machine)) throw silent(details.id, page, trouble);
      wanted = `answers at port ${page.address.port} of ${page.host}`;
    }
    const text = `waiting until ${details.id} ${wanted}`;
    if (text !== said) onProgress?.(text);
    said = text;
    await delay(pause, undefined, signal ? { signal } : {}).catch(() => undefined); // looked at above
  }
}

/** Its address on this machine, where `port` leads to it; without, that of its own port. */
export const pageUrl = ({ address }: ServedPage, port = address.port): string =>
  `${address.scheme}://${loopback}:${port}${address.rest}`;

/** A port of this machine that leads to the page. Owned by whoever opened it. */
export function forwardPage(
  machine: Machine,
  { dir, host, address: { port } }: ServedPage,
  logger: Logger,
): Promise<PortForward> {
  const connect = (): ReturnType<typeof machine.connectPort> => machine.connectPort(dir, host, port);
  return PortForward.open({ port, connect, remote: `port ${port} of ${host}`, logger });
}

type Found = Pick<ServedPage, 'rank' | 'address'>;

/** Reads of each log what came since the last look. */
class Search {
  private readonly choices = new Map<string, AddressChoice>();
  /** Of each log, how long it was. */
  private readonly sizes = new Map<string, number>();

  constructor(
    private readonly dir: NodePath,
    private readonly wish: WebPageWish,
  ) {}

  /** Of the first rank that has printed one. */
  async look(
    client: AgentClient,
    { files, run }: RunDetails,
    signal: AbortSignal | undefined,
  ): Promise<Found | undefined> {
    const { rank: wanted, port } = this.wish;
    const logs = runLogs(files).flatMap(({ file, source }) => {
      const rank = rankOf(source);
      return rank === undefined || (wanted ?? rank) !== rank ? [] : [{ file, rank }];
    });
    for (const { file, rank } of logs.slice(0, mostRanks)) {
      throwIfCancelled(signal);
      const address = await this.addressIn(client, file, files[file] ?? 0);
      if (address) return { rank, address };
    }
    // A program need not print the port that somebody knows; of several ranks, one has to be named.
    const isSure = wanted !== undefined || run?.ranks === 1;
    const [first] = logs;
    return port !== undefined && first && isSure
      ? { rank: first.rank, address: { scheme: 'http', port, rest: '' } }
      : undefined;
  }

  private async addressIn(
    client: AgentClient,
    file: string,
    size: number,
  ): Promise<PrintedAddress | undefined> {
    const choice = this.choices.get(file) ?? new AddressChoice(this.wish.port);
    this.choices.set(file, choice);
    const before = this.sizes.get(file);
    this.sizes.set(file, size);
    const take = async (start: number, end: number): Promise<void> => {
      await readLogLines(client, join(this.dir, file), { start, size: end }, ({ offset, text }) => {
        const isCut = start > 0 && offset === start;
        // The last line may be half written, unless nothing came since.
        const isOpen = offset + Buffer.byteLength(text) >= end && before !== size;
        if (!isCut && !isOpen) choice.take(text);
      });
    };
    const start = Math.max(0, size - mostBytes, (before ?? 0) - overlap);
    if (before === undefined && start > 0) await take(0, Math.min(start, firstBytes));
    await take(start, size);
    return choice.address;
  }
}

/** UserError (usage) for a run that serves nothing, and for a wrong wish. */
function assertServes(details: RunDetails, { rank }: WebPageWish): void {
  const { id, run } = details;
  const status = statusOf(details);
  if (run?.program === 'trainer') {
    const what = `${id} is a training, which serves no page but that of TensorBoard`;
    throw new UserError('usage', what, 'Open its TensorBoard');
  }
  if (isOver(status)) {
    throw new UserError('usage', `${id} is ${status}: nothing of it serves a page`, 'Start it anew');
  }
  if (rank !== undefined && run && rank >= run.ranks) {
    throw new UserError('usage', `${id} has no rank ${rank}`, `Its ranks are 0 to ${run.ranks - 1}`);
  }
}

/** Undefined while the rank is not running, as in a restart. */
function pageOf(
  machine: Machine,
  { dir, state }: RunDetails,
  { rank, address }: Found,
): ServedPage | undefined {
  const host = state?.ranks.find((one) => one.rank === rank)?.host;
  const isHere = machine.shell === undefined;
  return host === undefined ? undefined : { dir, rank, host, address, isHere };
}

/** Why a connection there fails; undefined where it does not. */
async function troubleAt(machine: Machine, { dir, host, address }: ServedPage): Promise<unknown> {
  const patience = patienceFor(machine);
  const late = new AbortController();
  const connecting = machine.connectPort(dir, host, address.port);
  try {
    const waiting = delay(patience, undefined, { signal: late.signal });
    const channel = await Promise.race([connecting, waiting]);
    if (channel === undefined) {
      connecting.then(
        (later) => later.destroy(),
        () => undefined, // it took too long, which is said
      );
      return new Error(`no answer within ${patience / 1000} s`);
    }
    channel.destroy();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    late.abort();
  }
}

function silent(id: string, { rank, host, address }: ServedPage, cause: unknown): UserError {
  const where = `port ${address.port} of ${host}, where rank ${rank} of ${id} serves a page`;
  const what = `nothing answers at ${where}: ${errorText(cause)}`;
  return new UserError('failed', what, 'Look at what it prints', { cause });
}

// On which node of a cluster a trial of one node runs.
import { hasRanks } from '../contracts/slots.js';
import { trainerVerb, withoutTrainer } from '../plan/request/flags.js';
import type { TypedRun } from '../plan/request/request.js';
import type { Trial } from './record.js';

/** One node, and how many trials it has room for at the same time. */
export interface TrialHost {
  host: string;
  room: number;
}

/** Trials that failed one after the other on a host where none has finished: it gets no more. */
const mostFailed = 2;

/**
 * The hosts among which the trials may be shared out: undefined where a trial takes more than one
 * node or rank, where its hosts were named, and where there is one host alone. A training is kept
 * on the head: its rank 0 has to see the head's run folder.
 */
export function sharedHosts({
  profile,
  words,
  hosts,
  nodes,
  per,
  ranks = 1,
}: TypedRun): string[] | undefined {
  const isOwn = trainerVerb(withoutTrainer(words)) === undefined;
  const takesOne = ranks === 1 && (nodes === 1 || (nodes === undefined && per === undefined));
  if (profile.kind !== 'ssh' || hosts !== undefined || !isOwn || !takesOne) return undefined;
  const names = (profile.hosts ?? []).filter(hasRanks).map(({ host }) => host);
  return names.length < 2 ? undefined : names;
}

/**
 * Whether a run may take another node than the head of its cluster, and so a port of the head while
 * it waits.
 */
export function mayTakePorts({ profile, words, hosts, nodes, per, ranks }: TypedRun): boolean {
  const isOwn = trainerVerb(withoutTrainer(words)) === undefined;
  const all = profile.hosts ?? [];
  const head = profile.head ?? all[0]?.host;
  const isOneProcess = isOwn && ranks === undefined && per === undefined && nodes === undefined;
  const isOne = ranks === 1 || nodes === 1 || hosts?.length === 1 || isOneProcess;
  const isOnHead = (hosts ?? [head])[0] === head && all.some((one) => one.host === head && hasRanks(one));
  return profile.kind === 'ssh' && all.length > 1 && !(isOne && isOnHead);
}

/** The run on that host alone. */
export function onHost(typed: TypedRun, host: string): TypedRun {
  const run = { ...typed, hosts: [host] };
  delete run.nodes;
  return run;
}

/** The host of each trial that is under way. */
export class TrialHosts {
  private readonly under = new Map<number, string>();
  private readonly finished = new Set<string>();
  private readonly failed = new Map<string, number>();

  /** `reserves`: hosts without room, which take the place of the last one that is lost. */
  constructor(
    private hosts: readonly TrialHost[],
    private reserves: readonly string[] = [],
  ) {}

  /**
   * A host for the trial, with the fewest under way for its room, of several the first; undefined
   * where the trials are not shared out.
   */
  take(trial: number): string | undefined {
    const load = ({ host, room }: TrialHost): number =>
      [...this.under.values()].filter((one) => one === host).length / room;
    const [freest] = this.hosts.toSorted((one, other) => load(one) - load(other));
    this.attach(trial, freest?.host);
    return freest?.host;
  }

  /** A trial that is under way there already. */
  attach(trial: number, host: string | undefined): void {
    if (host === undefined) this.under.delete(trial);
    else this.under.set(trial, host);
  }

  /** The trial is over. The host that gets no more trials for it, if any. */
  release(trial: number, status: Trial['status']): string | undefined {
    const host = this.under.get(trial);
    this.under.delete(trial);
    if (host === undefined) return undefined;
    if (status === 'finished') this.finished.add(host);
    if (status !== 'failed' || this.finished.has(host)) return undefined;
    const failed = (this.failed.get(host) ?? 0) + 1;
    this.failed.set(host, failed);
    return failed >= mostFailed && this.drop(host) ? host : undefined;
  }

  /** The host is gone. False where there is no other one, not even without room. */
  lose(host: string): boolean {
    this.reserves = this.reserves.filter((one) => one !== host);
    const left = this.hosts.filter((one) => one.host !== host);
    const hosts = left.length > 0 ? left : this.reserves.map((one) => ({ host: one, room: 1 }));
    if (hosts.length === 0) return false;
    this.hosts = hosts;
    return true;
  }

  /** No more trials for this host. False where there is no other one. */
  drop(host: string): boolean {
    const left = this.hosts.filter((one) => one.host !== host);
    if (left.length === 0) return false;
    this.hosts = left;
    return true;
  }
}

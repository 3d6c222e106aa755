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

/**
 * The hosts among which the trials may be shared out: undefined where a trial takes more than one
 * node, where its hosts were named, and where there is one host alone.
 */
export function sharedHosts({
  profile,
  words,
  hosts,
  nodes,
  per,
  ranks = 1,
}: TypedRun): string[] | undefined {
  const isProcess = trainerVerb(withoutTrainer(words)) === undefined && per === undefined && ranks === 1;
  const takesOne = nodes === 1 || (nodes === undefined && isProcess);
  if (profile.kind !== 'ssh' || hosts !== undefined || !takesOne) return undefined;
  const names = (profile.hosts ?? []).filter(hasRanks).map(({ host }) => host);
  return names.length < 2 ? undefined : names;
}

/** The run on that host alone. */
export function onHost(typed: TypedRun, host: string): TypedRun {
  const run = { ...typed, hosts: [host] };
  delete run.nodes;
  return run;
}

/** The one with the fewest trials under way for its room; of several the first. */
export function freestHost(hosts: readonly TrialHost[], trials: readonly Trial[]): string | undefined {
  const load = ({ host, room }: TrialHost): number =>
    trials.filter((trial) => isUnderWay(trial) && trial.host === host).length / room;
  return hosts.toSorted((one, other) => load(one) - load(other))[0]?.host;
}

const isUnderWay = ({ status }: Trial): boolean => status === 'starting' || status === 'running';

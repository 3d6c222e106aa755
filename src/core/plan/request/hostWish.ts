// Which hosts of a cluster a person names for one run, and whether the profile has them.
import { UserError } from '../../base/errors.js';
import { nearestOf } from '../../base/nearest.js';
import type { RunEntry } from '../../contracts/agentApi.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { hasRanks } from '../../contracts/slots.js';

/** What a run that names hosts says of them. */
interface HostWish {
  profile: Profile;
  hosts?: readonly string[] | undefined;
  nodes?: number | undefined;
}

/** `gpu1,gpu3`. UserError (usage) for a list without names, or with an empty one. */
export function hostListOf(text: string, what: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return names;
  const wrong = names.some((name) => name !== '') ? `has a comma too many: "${text}"` : 'names no host';
  throw new UserError(
    'usage',
    `${what} ${wrong}`,
    'Write their names with commas between, such as gpu1,gpu3',
  );
}

/**
 * The names, which are hosts of the profile that take ranks. UserError (usage) where they are not,
 * and where a number of nodes was asked for beside them.
 */
export function wishedHosts({ profile, hosts, nodes }: HostWish): readonly string[] | undefined {
  if (hosts === undefined) return undefined;
  const refused = (what: string, hint: string): UserError => new UserError('usage', what, hint);
  if (profile.kind === 'local') {
    const what = `hosts were named, and profile ${profile.name} is this machine alone`;
    throw refused(what, 'Leave them out, or choose a profile of kind ssh');
  }
  if (profile.kind === 'slurm') {
    const what = `hosts were named, and Slurm chooses the nodes of profile ${profile.name}`;
    const line = `--nodelist=${hosts.join(',')}`;
    const hint = `Leave them out. Slurm takes "${line}" in "lines" of the profile, and a constraint or partition for one run`;
    throw refused(what, hint);
  }
  if (hosts.length === 0) throw refused('no host is named', 'Name one, or leave the list of hosts out');
  if (nodes !== undefined) {
    const hint = 'Leave the number out: a run may take all hosts that are named';
    throw refused('hosts were named, and a number of nodes was given too', hint);
  }
  const twice = hosts.find((name, at) => hosts.indexOf(name) !== at);
  if (twice !== undefined) throw refused(`${twice} is named twice`, 'Name each host once');
  const there = profile.hosts ?? [];
  for (const name of hosts) {
    const host = there.find((one) => one.host === name);
    if (host === undefined) {
      const names = there.map((one) => one.host);
      const nearest = nearestOf(name, names);
      const meant = nearest === undefined ? '' : `Did you mean ${nearest}? `;
      const hint = `${meant}Its hosts are ${names.join(', ')}`;
      throw refused(`${name} is no host of profile ${profile.name}`, hint);
    }
    if (!hasRanks(host)) {
      const what = `${name} takes no rank: its slots in profile ${profile.name} are 0`;
      throw refused(what, 'Leave it out: it is the head, and holds the run all the same');
    }
  }
  return hosts;
}

/** Those of an earlier run, unless its profile is of another kind by now. */
export const keptHosts = ({ kind }: Profile, hosts: readonly string[] | undefined): typeof hosts =>
  kind === 'ssh' ? hosts : undefined;

/** That a profile has lost hosts which an earlier run named. */
interface LostHosts {
  /** Which ones, and which hosts there are; without the full stop. */
  what: string;
  /** Those of the run that still take ranks. */
  left: readonly string[];
  /** Hosts that take ranks: `left`, or others where none is. */
  instead: readonly string[];
}

/** Undefined where all of them still take ranks, and where the profile is of another kind. */
export function lostHosts(profile: Profile, asked: readonly string[] | undefined): LostHosts | undefined {
  const { name, hosts = [] } = profile;
  const kept = keptHosts(profile, asked) ?? [];
  const there = hosts.filter(hasRanks).map(({ host }) => host);
  const left = kept.filter((each) => there.includes(each));
  if (left.length === kept.length) return undefined;
  const gone = kept.filter((each) => !hosts.some(({ host }) => host === each));
  const idle = kept.filter((each) => !left.includes(each) && !gone.includes(each));
  const lost = [
    ...said(gone, `is no longer a host of profile ${name}`, `are no longer hosts of profile ${name}`),
    ...said(idle, `takes no rank in profile ${name} any more`, `take no rank in profile ${name} any more`),
  ];
  const what = `${lost.join(', and ')}; ranks may be on ${there.join(', ')}`;
  return { what, left, instead: left.length > 0 ? left : there.slice(0, kept.length) };
}

const said = (names: readonly string[], ofOne: string, ofMore: string): string[] =>
  names.length === 0 ? [] : [`${names.join(', ')} ${names.length === 1 ? ofOne : ofMore}`];

/** UserError (usage) for a new run on the hosts that an earlier one named, where some are lost. */
export function assertHostsLeft(profile: Profile, asked: readonly string[] | undefined): void {
  const lost = lostHosts(profile, asked);
  if (lost) throw new UserError('usage', lost.what, { kind: 'otherHosts', hosts: lost.instead });
}

/**
 * The hosts of a run that goes on in its folder. UserError (usage) where the profile has lost some;
 * it says on which ones the run can go on.
 */
export function resumedHosts(
  profile: Profile,
  asked: readonly string[] | undefined,
  { id, dir }: Pick<RunEntry, 'id' | 'dir'>,
): readonly string[] | undefined {
  const lost = lostHosts(profile, asked);
  if (!lost) return keptHosts(profile, asked);
  const resume = { profile: profile.name, id, dir };
  throw new UserError('usage', lost.what, { kind: 'otherHosts', hosts: lost.instead, resume });
}

/**
 * UserError (usage) where one process was asked for on several hosts. In a job of Slurm's one
 * process may start others on the nodes itself.
 */
export function assertEachTaken({
  profile,
  hosts = [],
  nodes = 1,
  ranks,
  everySlot,
}: HostWish & { ranks: number | undefined; everySlot: boolean }): void {
  if (everySlot || ranks !== undefined) return;
  const others = 'or ask for more ranks, or for one on each slot or node';
  if (hosts.length > 1) {
    const what = `${hosts.length} hosts were named, and this run is one process`;
    throw new UserError('usage', what, `Name one, ${others}`);
  }
  if (nodes > 1 && profile.kind === 'ssh') {
    const what = `${nodes} nodes were asked for, and this run is one process`;
    throw new UserError('usage', what, `Leave the number out, ${others}`);
  }
}

// A form that is filled in like a run that its profile cannot give as it was: it has lost hosts of
// that run, or is of another kind.
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { RunFormValues } from '../../core/plan/form/runForm.js';
import { otherKind } from '../../core/plan/request/otherKind.js';
import { lostHosts } from '../../core/plan/request/hostWish.js';

/** What can be filled in, and what is to be said about it. */
interface Left {
  values: RunFormValues;
  said: string;
}

/**
 * The values without what a profile of this kind cannot give, and with those hosts alone that are
 * left; undefined where nothing is lost. Where no host is left all stay, since an empty field means
 * every host.
 */
export function withoutLostHosts(values: RunFormValues, profile: Profile): Left | undefined {
  const asked = values.hosts.trim() === '' ? undefined : values.hosts.split(',').map((name) => name.trim());
  const other = otherKind(profile, {
    ...(asked && { hosts: asked }),
    ...(values.nodes.trim() === '' ? {} : { nodes: Number(values.nodes) }),
    slurm: Object.entries(values.slurm).flatMap(([key, value]) =>
      value.trim() === '' ? [] : [`${key}=${value.trim()}`],
    ),
  });
  if (other) {
    const cleared = other.fields.map((field) => [field, field === 'slurm' ? {} : '']);
    const { ranks = values.ranks, ...rest } = Object.fromEntries(cleared) as Partial<RunFormValues>;
    return {
      values: { ...values, ...rest, ranks: ranks === '' ? ranksElsewhere(values) : ranks },
      said: `${other.what}. That is left out here.`,
    };
  }
  const lost = lostHosts(profile, asked);
  if (!lost) return undefined;
  const hosts = lost.left.join(',');
  if (hosts === '') return { values, said: `${lost.what}. Choose other hosts.` };
  return {
    values: { ...values, hosts, ranks: ranksElsewhere(values) },
    said: `${lost.what}. Choose other hosts, or start on ${hosts}.`,
  };
}

/** So many ranks there were on all hosts of that run. */
const ranksElsewhere = ({ what, spread, ranks }: RunFormValues): string =>
  what === 'train' || spread !== 'one' ? '' : ranks;

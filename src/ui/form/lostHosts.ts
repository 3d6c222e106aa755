// A form that is filled in like a run whose hosts the profile has lost since then.
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { RunFormValues } from '../../core/plan/form/runForm.js';
import { lostHosts } from '../../core/plan/request/hostWish.js';

/**
 * The values with those hosts alone that are left, and what is to be said about it; undefined where
 * none is lost. Where none is left all stay, since an empty field means every host.
 */
export function withoutLostHosts(
  values: RunFormValues,
  profile: Profile,
): { values: RunFormValues; said: string } | undefined {
  if (values.hosts.trim() === '') return undefined;
  const asked = values.hosts.split(',').map((name) => name.trim());
  const lost = lostHosts(profile, asked);
  if (!lost) return undefined;
  const hosts = lost.left.join(',');
  if (hosts === '') return { values, said: `${lost.what}. Choose other hosts.` };
  // So many ranks there were on all hosts of that run.
  const ranks = values.what === 'train' || values.spread !== 'one' ? '' : values.ranks;
  return {
    values: { ...values, hosts, ranks },
    said: `${lost.what}. Choose other hosts, or start on ${hosts}.`,
  };
}

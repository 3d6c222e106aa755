// Where a run computes, in words.
import type { RunDetails } from '../../core/contracts/agentApi.js';
import { hasRanks } from '../../core/contracts/slots.js';
import { plural } from '../figureText.js';

/**
 * `this machine`, the name of the one host, or `3 nodes`: where its ranks are now, else where they
 * are to be.
 */
export function placeOf(details: RunDetails | undefined): string {
  if (details?.elsewhere) return details.elsewhere;
  if (!details?.run || details.run.profile.kind === 'local') return 'this machine';
  const planned = details.run.nodes?.filter(hasRanks).map(({ host }) => host) ?? [];
  const ranks = details.state?.ranks.map(({ host }) => host) ?? [];
  // Of one node the profile's name counts: the ranks may know another one.
  const hosts = new Set(planned.length === 1 || ranks.length === 0 ? planned : ranks);
  const [first = details.state?.supervisor.host ?? 'one node'] = hosts;
  return hosts.size > 1 ? plural(hosts.size, 'node') : first;
}

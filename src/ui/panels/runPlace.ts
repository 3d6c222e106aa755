// Where a run computes, in words.
import type { RunDetails } from '../../core/contracts/agentApi.js';
import { startsRanks } from '../../core/contracts/slots.js';
import { isOver, statusOf } from '../../core/model/runStatus.js';
import { plural } from '../figureText.js';

/**
 * `this machine`, the name of the one host, or `3 nodes`: where its ranks are now, else where they
 * are to be. With the spare nodes that are left.
 */
export function placeOf(details: RunDetails | undefined): string {
  if (details?.elsewhere) return details.elsewhere;
  if (!details?.run || details.run.profile.kind === 'local') return 'this machine';
  const planned = details.run.nodes?.filter(startsRanks).map(({ host }) => host) ?? [];
  const ranks = details.state?.ranks.map(({ host }) => host) ?? [];
  // Of one node the profile's name counts: the ranks may know another one.
  const hosts = new Set(planned.length === 1 || ranks.length === 0 ? planned : ranks);
  const [first = details.state?.supervisor.host ?? 'one node'] = hosts;
  const place = hosts.size > 1 ? plural(hosts.size, 'node') : first;
  const spares = sparesLeft(details);
  return spares === 0 ? place : `${place}, ${plural(spares, 'spare')}`;
}

/** While the run is under way, those that have joined and hold no rank. */
function sparesLeft(details: RunDetails): number {
  const { run, state } = details;
  const planned = run?.nodes?.filter(({ spare }) => spare === true).length ?? 0;
  if (planned === 0 || !state?.nodes || isOver(statusOf(details))) return planned;
  return state.nodes.filter(({ spare }) => spare === true).length;
}

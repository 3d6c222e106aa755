// Where a run computes, in words.
import type { RunDetails } from '../../core/contracts/agentApi.js';
import type { RunState } from '../../core/contracts/runSchema.js';
import { isSpare, startsRanks } from '../../core/contracts/slots.js';
import { hostsText } from '../../core/model/hosts/rankText.js';
import { isOver, statusOf } from '../../core/model/runStatus.js';
import { plural } from '../figureText.js';

/**
 * `this machine`, the name of the one host, or `3 nodes`: where its ranks are now, else where they
 * are to be. With its nodes that are spare or lost, and the one that has a copy of the run folder.
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
  return [place, ...besideRanks(details)].join(', ');
}

/** `1 spare`, and `gpu2 lost`: nodes of the run without ranks, while it is under way. */
function besideRanks(details: RunDetails): string[] {
  const { run, state } = details;
  const isUnderWay = state?.nodes !== undefined && !isOver(statusOf(details));
  const nodes = isUnderWay ? (state.nodes ?? []) : (run?.nodes ?? []);
  const spares = nodes.filter(isSpare).length;
  const lost = nodes.filter((node) => 'state' in node && node.state === 'lost').map(({ host }) => host);
  return [
    ...(spares === 0 ? [] : [plural(spares, 'spare')]),
    ...(lost.length === 0 ? [] : [`${hostsText(lost)} lost`]),
    ...(isUnderWay ? mirrorText(state.mirror) : []),
  ];
}

/** `gpu2 has a copy`, or that it has none. Nothing where all see the same folder. */
function mirrorText(mirror: RunState['mirror']): string[] {
  if (mirror === undefined || mirror.shared === true) return [];
  return [`${mirror.host} has ${typeof mirror.checkpoint === 'string' ? 'a copy' : 'no copy'}`];
}

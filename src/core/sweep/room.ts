// How many trials the GPUs of a profile have room for.
import { UserError } from '../base/errors.js';
import { plural } from '../base/plural.js';
import { portRangeOf, portsOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { GpuWish } from '../plan/request/gpuWish.js';

/** How many trials that take `wish` fit on a node with so many GPUs. UserError (usage). */
export const roomFor = (gpus: number, wish: GpuWish | undefined): number => Math.floor(gpus / countOf(wish));

/**
 * `gpus`: of each node that a trial may take; one without GPUs does not count. A trial takes `wish`
 * on each of them, unless it takes `nodes` of them only: then the first ones, as every start does.
 * UserError (usage) where not one trial fits.
 */
export function trialsAtOnce(
  gpus: readonly number[],
  wish: GpuWish | undefined,
  nodes: number | undefined,
): number {
  const count = countOf(wish);
  const taken = gpus.filter((there) => there > 0).slice(0, nodes);
  const fewest = taken.length === 0 ? 0 : Math.min(...taken);
  const room = Math.floor(fewest / count);
  if (room > 0) return room;
  const what = `a trial takes ${plural(count, 'GPU')} of each node, and one has ${fewest}`;
  throw new UserError('usage', what, 'Ask for fewer GPUs for each trial');
}

/**
 * Whether so many trials can wait at the same time on nodes of this profile: each takes a port of
 * the head, and half of them are left to those that run. UserError (usage).
 */
export function assertPorts(profile: Profile, trials: number): void {
  const [first, last] = portsOf(profile);
  const most = Math.floor((last - first + 1) / 2);
  if (trials <= most) return;
  const what =
    `${trials} trials are to wait on the nodes, each with a port of the head, and portRange ` +
    `(${portRangeOf(profile)}) has room for ${most}`;
  throw new UserError('usage', what, 'Widen portRange of the profile, or start fewer trials at once');
}

function countOf(wish: GpuWish | undefined): number {
  if (wish && !wish.indices) return wish.count;
  const what = 'nothing says how many GPUs a trial takes, so a trial takes all that are free';
  throw new UserError('usage', what, 'Ask for a number of GPUs for each trial');
}

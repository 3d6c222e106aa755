// Which points a measurement has, and with which words each of them is started.
import { UserError } from '../base/errors.js';
import type { Profile } from '../contracts/profileSchema.js';
import { hasRanks } from '../contracts/slots.js';
import type { ScalingMode } from './series.js';

/** One point that is asked for. */
export interface PlannedPoint {
  mode: ScalingMode;
  replicas: number;
}

/** `1,2,4`. UserError (usage). */
export function replicasOf(text: string): number[] {
  const numbers = text.split(',').map((part) => (/^[1-9]\d{0,4}$/.test(part.trim()) ? Number(part) : 0));
  if (numbers.includes(0)) {
    throw new UserError('usage', `the replicas must be numbers from 1, not "${text}"`, 'Write, say, 1,2,4');
  }
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Powers of two up to all that there are, and all. `slots` is what the profile has room for. */
export function usualReplicas(slots: number): number[] {
  const found = [slots];
  for (let count = 1; count < slots; count *= 2) found.push(count);
  return found.sort((a, b) => a - b);
}

/** Replicas for which the profile says that it has room; `cores` are those of this machine. */
export function slotsOf({ kind, hosts = [], maxNodes }: Profile, cores: number): number {
  if (kind === 'local') return hosts[0]?.slots ?? hosts[0]?.gpus?.length ?? cores;
  return hosts
    .filter(hasRanks)
    .slice(0, maxNodes ?? hosts.length)
    .reduce((sum, { slots, gpus }) => sum + (slots ?? gpus?.length ?? 1), 0);
}

/** The most of them on one node. */
export const slotsOfNode = (profile: Profile, cores: number): number =>
  profile.kind === 'local'
    ? slotsOf(profile, cores)
    : Math.max(1, ...(profile.hosts ?? []).map(({ slots, gpus }) => slots ?? gpus?.length ?? 1));

/** Weak scaling first: its first point is the first one of strong scaling too. */
export const plannedPoints = (replicas: readonly number[], modes: readonly ScalingMode[]): PlannedPoint[] =>
  modes.flatMap((mode) => replicas.map((count) => ({ mode, replicas: count })));

/**
 * The batch of one of `replicas` that share what `first` replicas with `batch` each have. UserError
 * (usage) where it does not come out even.
 */
export function sharedBatch(batch: number, first: number, replicas: number): number {
  const shared = (batch * first) / replicas;
  if (Number.isInteger(shared)) return shared;
  throw new UserError(
    'usage',
    `a batch of ${batch * first} cannot be shared evenly by ${replicas} replicas`,
    'Choose a batch that all numbers of replicas divide',
  );
}

// The ports on which the nodes of a cluster listen for one another.
import type { Profile } from './schema.js';

export const portRangeText = /^(\d{1,5})-(\d{1,5})$/;

const defaultPortRange = '47000-47100';

export function portRangeOf({ portRange = defaultPortRange }: Profile): string {
  return portRange;
}

/** The first and the last. */
export function portsOf(profile: Profile): [first: number, last: number] {
  const [, first, last] = portRangeText.exec(portRangeOf(profile)) ?? [];
  return [Number(first), Number(last)];
}

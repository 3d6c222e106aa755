// The ports on which the nodes of a cluster listen for one another.

/** What of a profile says them. */
export interface WithPorts {
  portRange?: string | undefined;
}

/** How a range of ports is written: FIRST-LAST. */
export const portRangeText = /^(\d{1,5})-(\d{1,5})$/;

const defaultPortRange = '47000-47100';

/** The profile's range of ports as it is written, or the default. */
export function portRangeOf({ portRange = defaultPortRange }: WithPorts): string {
  return portRange;
}

/** The first and the last. */
export function portsOf(profile: WithPorts): [first: number, last: number] {
  const [, first, last] = portRangeText.exec(portRangeOf(profile)) ?? [];
  return [Number(first), Number(last)];
}

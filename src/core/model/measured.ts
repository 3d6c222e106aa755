// Runs that a measurement starts, one after the other: by what they are called, and by their tag.
import type { RunEntry } from '../contracts/agentApi.js';

/** Tag and name of each run of a bake-off. */
export const bakeOffTag = 'bake-off';
/** Tag of each run of a scaling report. */
export const scalingTag = 'scaling';

/** A run of so many steps, or more, has no end of its own: it is stopped. */
export const endlessSteps = 1_000_000_000;

/** Of a run of a scaling report. */
export const scalingName = (mode: 'weak' | 'strong', replicas: number): string =>
  `${mode} scaling ${replicas}`;

/**
 * Whether a measurement started the run, here or elsewhere. A user's own run may have such a tag,
 * or such a name, but hardly both.
 */
export function isMeasured({ about }: Pick<RunEntry, 'about'>): boolean {
  const { name = '', tags = [] } = about ?? {};
  return (
    (tags.includes(bakeOffTag) && name === bakeOffTag) ||
    (tags.includes(scalingTag) && /^(weak|strong) scaling \d+$/.test(name))
  );
}

// Runs that a measurement starts, one after the other: by what they are called, and by their tag.
import type { RunEntry } from '../contracts/agentApi.js';

/** Tag of each run of a bake-off, with which its name begins. */
export const bakeOffTag = 'bake-off';
/** Tag of each run of a scaling report. */
export const scalingTag = 'scaling';

/** A run of so many steps, or more, has no end of its own: it is stopped. */
export const endlessSteps = 1_000_000_000;

/** Of a run of a bake-off. `candidate`: its settings in words. */
export const bakeOffName = (candidate: string): string => `${bakeOffTag}: ${candidate}`;

/** Of a run of a scaling report. `what`: what is measured beside the training of a point. */
export const scalingName = (
  mode: 'weak' | 'strong',
  replicas: number,
  what?: 'all-reduce' | `batch ${number}`,
): string => [`${mode} scaling ${replicas}`, what].filter((part) => part !== undefined).join(' ');

/**
 * Whether a measurement started the run, here or elsewhere. A user's own run may have such a tag,
 * or such a name, but hardly both.
 */
export function isMeasured({ about }: Pick<RunEntry, 'about'>): boolean {
  const { name = '', tags = [] } = about ?? {};
  return (
    (tags.includes(bakeOffTag) && (name === bakeOffTag || name.startsWith(bakeOffName('')))) ||
    (tags.includes(scalingTag) && /^(weak|strong) scaling \d+( all-reduce| batch \d+)?$/.test(name))
  );
}

/** The same runs in the same order, but those of measurements last. */
export function ownFirst<R extends { run: { entry: Pick<RunEntry, 'about'> } }>(runs: readonly R[]): R[] {
  const measured = runs.filter(({ run }) => isMeasured(run.entry));
  return [...runs.filter(({ run }) => !isMeasured(run.entry)), ...measured];
}

// What one run asks of Slurm in place of its profile, as a person types it: KEY=VALUE.
import { UserError } from '../base/errors.js';
import { nearestOf } from '../base/nearest.js';
import type { Profile } from '../contracts/profileSchema.js';
import { slurmWishFields, slurmWishSchema, type SlurmWish } from '../contracts/slurmSchema.js';
import { gpusPerNodeOf, type SlurmFields } from './options.js';

/** The names that a wish may have, in their order. */
export const slurmKeys = Object.keys(slurmWishFields) as (keyof SlurmWish)[];
const switches: readonly (keyof SlurmWish)[] = ['exclusive', 'requeue'];
/** Minutes, with seconds, hours or days, as sbatch reads them. */
const timeText = /^(?:\d+(?::\d+){0,2}|\d+-\d+(?::\d+){0,2}|unlimited|infinite)$/i;

/** One value of a wish. UserError (usage) for a key that is none, or a value that cannot stand there. */
function slurmValueOf(key: string, value: string): SlurmWish {
  const known = slurmKeys.find((one) => one === key);
  if (known === undefined) {
    const nearest = nearestOf(key, slurmKeys);
    const hint = nearest === undefined ? `Give one of: ${slurmKeys.join(', ')}` : `Did you mean ${nearest}?`;
    throw new UserError('usage', `a run gives Slurm no "${key}"`, hint);
  }
  if (switches.includes(known)) {
    if (value === 'true' || value === 'false') return { [known]: value === 'true' };
    throw new UserError('usage', `"${known}" must be true or false, not "${value}"`, 'Correct it');
  }
  if (known === 'time' && !timeText.test(value)) {
    const hint = 'Write minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS, for example 8:00:00';
    throw new UserError('usage', `"${value}" is no time limit of Slurm`, hint);
  }
  const wish = slurmWishSchema.safeParse({ [known]: value });
  if (wish.success) return wish.data;
  const hint = 'Write a value of one line, or leave it out for what the profile says';
  throw new UserError('usage', `"${known}" has no value that can stand in a batch script`, hint);
}

/** All of `KEY=VALUE`; of one key that is given twice, the last. UserError (usage). */
export function slurmWishOf(texts: readonly string[]): SlurmWish {
  const parts = texts.map((text): SlurmWish => {
    const at = text.indexOf('=');
    if (at > 0) return slurmValueOf(text.slice(0, at), text.slice(at + 1));
    throw new UserError('usage', `"${text}" is no KEY=VALUE`, 'Write, say, partition=long');
  });
  return Object.assign({}, ...parts) as SlurmWish;
}

/** What `slurmWishOf` reads the same wish from. */
export const slurmTexts = (wish: SlurmWish): string[] =>
  slurmKeys.flatMap((key) => (wish[key] === undefined ? [] : [`${key}=${String(wish[key])}`]));

/**
 * The profile's fields, with what the run asks in their place. Of GPUs those of the run alone
 * count. `gres=none` asks for CPUs alone.
 */
export function slurmFieldsOf({ slurm = {} }: Profile, wish: SlurmWish = {}): SlurmFields {
  const { gpusPerNode, ...others } = slurm;
  if (wish.gres === 'none') return { ...others, ...wish, gres: undefined };
  const named = wish.gres !== undefined && gpusPerNodeOf({ gres: wish.gres }) > 0;
  return { ...others, ...(gpusPerNode === undefined || named ? {} : { gpusPerNode }), ...wish };
}

import { UserError } from '../core/base/errors.js';

/** Of --accuracy, as a fraction: `80%`, `80` and `0.8` are the same. UserError (usage). */
export function accuracyOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(text) ?? [];
  const value = Number(digits);
  const fraction = percent === '%' || value > 1 ? value / 100 : value;
  if (fraction > 0 && fraction <= 1) return fraction;
  throw new UserError(
    'usage',
    `--accuracy must be more than 0% and at most 100%, not "${text}"`,
    'Write, say, 80%',
  );
}

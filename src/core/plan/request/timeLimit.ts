// How long a run may take, or be silent, as people write it.
import { UserError } from '../../base/errors.js';

const seconds = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 } as const;
type Unit = keyof typeof seconds;
const longest = 365 * seconds.d;

/**
 * `90s`, `30m`, `30min`, `1.5h`, `2d` in seconds. `what` is named where it is none. UserError
 * (usage).
 */
export function timeLimitOf(text: string, what: string): number {
  const [, number = '', unit] = /^(\d+(?:\.\d+)?)(s|m|min|h|d)$/.exec(text.trim()) ?? [];
  const time = unit === undefined ? NaN : Number(number) * seconds[unit as Unit];
  if (time >= 1 && time <= longest) return time;
  throw new UserError(
    'usage',
    `${what} must be from 1s to 365d, not "${text}"`,
    'Write, say, 90s, 30m or 2h',
  );
}

/** The same, or `0` for a silence of any length. UserError (usage). */
export const silenceTimeoutOf = (text: string, what: string): number =>
  text.trim() === '0' ? 0 : timeLimitOf(text, what);

/** The same seconds as such a text, in the largest unit that leaves no fraction. */
export function timeLimitText(limit: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => limit % seconds[each] === 0) ?? 's';
  return `${limit / seconds[unit]}${unit}`;
}

/** The same of a limit of silence. */
export const silenceTimeoutText = (limit: number): string => (limit === 0 ? '0' : timeLimitText(limit));

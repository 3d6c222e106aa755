// Figures as people read them.
import { duration } from '../core/base/duration.js';

/** Of a fraction. */
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
/** Without its unit, for `3.1/23.5 GB`. */
export const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);
export { duration } from '../core/base/duration.js';
export { plural } from '../core/base/plural.js';

/** `204 MB`, `1.3 GB`. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : value.toFixed(0)} ${units[unit] ?? ''}`;
}

/** The epoch under way, from 1, of a step line's `epoch`, which counts those that are done. */
export const epochUnderWay = (done: number, total: number): number =>
  Math.min(Math.floor(done) + 1, Math.max(1, Math.ceil(total)));

/** `4 min ago`, of a time in seconds since the epoch. */
export const seenAgo = ({ at }: { at: number }, now = Date.now() / 1000): string =>
  `${duration(now - at)} ago`;

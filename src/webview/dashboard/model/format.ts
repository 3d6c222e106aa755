// Figures as people read them. Widths are kept steady: a figure that moves keeps its number of
// digits.
import { duration as durationOf } from '../../../core/base/duration.js';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** What stands where a figure is missing. */
export const missing = '–';

/** `11,204`. */
export const count = (value: number): string => whole.format(value);

/** `1 restart`, `31 checkpoints`. */
export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** As many decimals as leave about three digits. */
export function rate(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return missing;
  const size = Math.abs(value);
  if (size >= 100) return count(value);
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** Of a fraction: `74.1%`. */
export const percent = (fraction: number | null, digits = 1): string =>
  fraction === null || !Number.isFinite(fraction) ? missing : `${(fraction * 100).toFixed(digits)}%`;

/** Of a number that is percent already. */
export const percentOf100 = (value: number | null): string =>
  value === null || !Number.isFinite(value) ? missing : `${Math.round(value)}%`;

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

function unitOf(value: number): number {
  let unit = 0;
  while (unit < units.length - 1 && Math.abs(value) >= 999.5 * 1000 ** unit) unit++;
  return unit;
}

const inUnit = (value: number, unit: number): string =>
  unit < 2 ? count(value / 1000 ** unit) : (value / 1000 ** unit).toFixed(unit === 2 ? 0 : 1);

/** `61.2 GB`; units of 1000, as everywhere in the product. */
export function bytes(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return missing;
  const unit = unitOf(value);
  return `${inUnit(value, unit)} ${units[unit] ?? ''}`;
}

/** `61.2/79.6 GB`: both in the unit of the whole. */
export function bytesOf(used: number | null, total: number): string {
  if (used === null || !Number.isFinite(used)) return `${missing}/${bytes(total)}`;
  return `${inUnit(used, unitOf(total))}/${bytes(total)}`;
}

/** `8 s`, `4 min`, `3 h 10 min`, `2 d 3 h`, as in the views. */
export const duration = (seconds: number | null): string =>
  seconds === null || !Number.isFinite(seconds) ? missing : durationOf(seconds);

const two = (value: number): string => String(value).padStart(2, '0');

/** Time since the start, exact to the second: `1:02:07`. */
export function elapsed(seconds: number): string {
  const total = Math.max(0, Math.round(seconds));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

/** On an axis this long ticks are whole minutes at least, however wide the chart is; seconds. */
const longAxis = 1800;

/**
 * A tick of the time axis, in a form that depends on what the axis shows: charts of one group are
 * of different widths. `step` is the distance to the next tick.
 */
export function axisTime(seconds: number, step: number, [low, high]: readonly [number, number]): string {
  if (seconds === 0) return '0';
  if (high - low < longAxis) {
    const tenths = step < 1 ? `.${Math.round(seconds * 10) % 10}` : '';
    const shown = step < 1 ? Math.floor(Math.round(seconds * 10) / 10) : Math.round(seconds);
    return high < 60 ? `${shown}${tenths} s` : `${elapsed(shown)}${tenths}`;
  }
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (step >= 86_400) return `${Math.round(hours / 24)} d`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours}:${two(minutes % 60)} h`;
}

/** Four digits that count, never more than fit: losses, learning rates. */
export function significant(value: number | null, digits = 4): string {
  if (value === null || !Number.isFinite(value)) return missing;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(Math.max(0, digits - 2));
  return value.toPrecision(digits);
}

/** `12.3 ms`, `1.20 s`. */
export function milliseconds(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return missing;
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ms`;
}

/** On the wall clock of who looks. */
export const clock = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour12: false });

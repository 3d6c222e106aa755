// Which lines of the log are shown.
import type { LogLine } from '../../protocol.js';

export interface LogFilter {
  /** Empty for all. */
  source: string;
  errorsOnly: boolean;
  text: string;
  /** Lines with larger serials have come after the reader scrolled up. */
  until: number;
}

/** More in the page at once would make it slow; the log file has all. */
const mostShown = 500;

/**
 * The lines by time, for a log that is opened late comes one source after the other. Lines of one
 * source keep their order; one without a time stays behind the line before it.
 */
export function byTime(lines: readonly LogLine[]): readonly LogLine[] {
  const latest = new Map<string, number>();
  let newest = 0;
  const placed = lines.map((line) => {
    const before = latest.get(line.source) ?? (line.time === null ? newest : 0);
    const place = Math.max(line.time ?? 0, before);
    latest.set(line.source, place);
    newest = Math.max(newest, place);
    return { line, place };
  });
  if (placed.every(({ place }, at) => place >= (placed[at - 1]?.place ?? 0))) return lines;
  return placed.sort((a, b) => a.place - b.place).map(({ line }) => line);
}

/** The newest lines that pass, oldest first. `inOrder`: as of `byTime`. */
export function shownLines(inOrder: readonly LogLine[], filter: LogFilter, most = mostShown): LogLine[] {
  const text = filter.text.trim().toLowerCase();
  const shown: LogLine[] = [];
  for (let index = inOrder.length - 1; index >= 0 && shown.length < most; index--) {
    const line = inOrder[index];
    if (!line || line.serial > filter.until) continue;
    if (filter.source !== '' && line.source !== filter.source) continue;
    if (filter.errorsOnly && line.level !== 'error') continue;
    if (text !== '' && !line.text.toLowerCase().includes(text)) continue;
    shown.push(line);
  }
  return shown.reverse();
}

const order = (source: string): string =>
  source === 'journal' ? '0' : source.replace(/\d+/, (digits) => digits.padStart(6, '0'));

/** Sources in an order that stays: the journal, then by name, ranks by number. */
export const sourcesOf = (lines: readonly LogLine[]): string[] =>
  [...new Set(lines.map(({ source }) => source))].sort((a, b) => order(a).localeCompare(order(b)));

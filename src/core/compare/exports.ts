// A comparison as text for other programs, and for documents.
import { ownName, type ComparedRun } from './comparedRun.js';
import type { Comparison } from './comparison.js';
import type { Difference } from './settings.js';

/** A table with a head and a run a row; what is not known is empty. */
export interface TextTable {
  head: string[];
  rows: string[][];
  /** Columns of figures, by their index. */
  right: number[];
}

/** One line of JSON: a run, or at last what differs. */
type ComparisonRecord =
  | (Pick<ComparedRun, 'id' | 'name' | 'tags' | 'dir' | 'profile' | 'currency' | 'settings' | 'own'> & {
      type: 'compared';
      status: string;
      figures: Record<string, number | null>;
    })
  | { type: 'differences'; accuracy: number | null; settings: Record<string, (string | null)[]> };

/** A figure may have the name of a setting, so a table says which one it is. */
const settingHead = ({ name }: Difference): string => `setting.${name}`;

/** For people: the runs, what differs, and the figures with their units. */
export function textTable({ runs, differences, columns }: Comparison): TextTable {
  const tagged = runs.some(({ tags }) => tags.length > 0);
  const names = ['run', 'status', ...(tagged ? ['tags'] : []), ...differences.map(settingHead)];
  return {
    head: [...names, ...columns.map(({ title, isOwn }) => (isOwn ? `last.${title}` : title))],
    rows: runs.map(({ name, status, tags }, at) => [
      name,
      status,
      ...(tagged ? [tags.map((tag) => `#${tag}`).join(' ')] : []),
      ...differences.map(({ values }) => values[at] ?? ''),
      ...columns.map(({ texts }) => texts[at] ?? ''),
    ]),
    right: columns.map((_, index) => names.length + index),
  };
}

/** A table of GitHub's Markdown; it ends with a newline. */
export function markdownOf(comparison: Comparison): string {
  const { head, rows, right } = textTable(comparison);
  const line = (cells: readonly string[]): string => `| ${cells.map(inMarkdown).join(' | ')} |\n`;
  const rule = head.map((_, index) => (right.includes(index) ? '---:' : '---'));
  return [line(head), `| ${rule.join(' | ')} |\n`, ...rows.map(line)].join('');
}

const inMarkdown = (text: string): string =>
  text.replace(/[\\|]/g, (character) => `\\${character}`).replace(/\s+/g, ' ');

/**
 * Comma-separated values with names of columns that hold their units (RFC 4180). Figures are whole
 * numbers and decimals, not rounded. Of what own programs reported there are the last, the least
 * and the greatest value.
 */
export function csvOf({ runs, differences, columns }: Comparison): string {
  const own = new Set(runs.flatMap((run) => run.own.map(ownName)));
  const figures = columns.filter(({ isOwn }) => !isOwn);
  const head = [
    ...['run', 'name', 'tags', 'profile', 'status', 'currency'],
    ...differences.filter(({ name }) => name !== 'profile').map(settingHead),
    ...figures.map(({ key }) => key),
    ...[...own].flatMap((name) => [`last.${name}`, `min.${name}`, `max.${name}`]),
  ];
  const rows = runs.map((run, at) => [
    ...[run.id, run.name, run.tags.join(' '), run.profile, run.status, run.currency],
    ...differences.filter(({ name }) => name !== 'profile').map(({ values }) => values[at]),
    ...figures.map(({ values }) => values[at]),
    ...[...own].flatMap((name) => {
      const figure = run.own.find((each) => ownName(each) === name);
      return [figure?.last, figure?.min, figure?.max];
    }),
  ]);
  return csvText([head, ...rows]);
}

/** Lines of comma-separated values (RFC 4180). What is not known is empty. */
export const csvText = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => `${row.map(inCsv).join(',')}\r\n`).join('');

function inCsv(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record for each run, then one with what differs. What is not known is null. */
export function recordsOf({ runs, differences, columns, accuracy }: Comparison): ComparisonRecord[] {
  return [
    ...runs.map((run, at): ComparisonRecord => ({
      type: 'compared',
      id: run.id,
      name: run.name,
      tags: run.tags,
      dir: run.dir,
      profile: run.profile,
      status: run.status,
      currency: run.currency,
      settings: run.settings,
      figures: Object.fromEntries(
        columns.filter(({ isOwn }) => !isOwn).map(({ key, values }) => [key, values[at] ?? null]),
      ),
      own: run.own,
    })),
    {
      type: 'differences',
      accuracy,
      settings: Object.fromEntries(differences.map(({ name, values }) => [name, values])),
    },
  ];
}

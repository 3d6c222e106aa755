// A comparison of runs in the terminal.
import type { Comparison } from '../core/compare/comparison.js';
import { textTable } from '../core/compare/exports.js';
import { table as aligned } from './format.js';

/**
 * Runs as columns where that fits into `width` characters, else runs as rows. What differs is a
 * table of its own.
 */
export function comparisonLines(comparison: Comparison, width: number): string[] {
  const { runs, differences, columns } = comparison;
  const names = runs.map(({ name }) => name);
  const all = names.map((_, index) => index + 1);
  const figures = [
    ['status', ...runs.map(({ status }) => status)],
    ...columns.map(({ title, texts }) => [title, ...texts]),
  ];
  const settings = differences.map(({ name, values }) => [name, ...values.map((value) => value ?? '')]);
  const upright = [
    ...aligned(['FIGURE', ...names], figures, all),
    '',
    ...(settings.length === 0
      ? ['The settings do not differ.']
      : aligned(['DIFFERS', ...names], settings, all)),
  ];
  if (upright.every((line) => line.length <= width)) return upright;
  const { head, rows, right } = textTable(comparison);
  return aligned(
    head.map((title) => title.toUpperCase()),
    rows,
    right,
  );
}

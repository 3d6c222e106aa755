// The model against series that others published: docs/scaling.md has what is computed here.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { leaveOneOut } from '../../../../src/core/scaling/predict.js';
import { publishedSeries } from '../../../../src/core/scaling/published.js';

const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/scaling.md'), 'utf8');

const rows = publishedSeries.map(({ name, setup, points }) => {
  const left = leaveOneOut(setup, points);
  const errors = left.map(({ replicas, error }) => {
    return `${replicas}: ${error < 0 ? '' : '+'}${(100 * error).toFixed(1)}%`;
  });
  return { name, left, row: `| ${name} | ${errors.join(', ')} |` };
});

it.each(rows)('$name: the errors on the page are those of the model', ({ row }) => {
  process.stdout.write(`${row}\n`);
  expect(page).toContain(row);
});

it('says of each error of 10% and more why', () => {
  const large = rows.flatMap(({ name, left }) =>
    left.filter(({ error }) => Math.abs(error) >= 0.1).map(({ replicas }) => `${name}, ${replicas}`),
  );
  expect(large.length).toBeGreaterThan(0);
  for (const which of large) expect(page).toContain(`**${which}**`);
});

it('names a source and its figures for each', () => {
  for (const { source, points } of publishedSeries) {
    expect(page.replace(/\s+/g, ' ')).toContain(source);
    expect(points.length).toBeGreaterThanOrEqual(3);
  }
});

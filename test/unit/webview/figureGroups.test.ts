import { expect, it } from 'vitest';
import type { FigureSeries } from '../../../src/webview/protocol.js';
import {
  figureGroups,
  figureLegend,
  figureSummary,
  figureTable,
} from '../../../src/webview/dashboard/charts/figureGroups.js';

const series = (tag: string, writer: string, values: (number | null)[], start = 100): FigureSeries => ({
  tag,
  writer,
  step: values.map((_, index) => index + 1),
  time: values.map((_, index) => start + index),
  value: values,
  min: values,
  max: values,
});

it('groups tags by what stands before the first slash; tags without one come first', () => {
  const figures = ['val/acc', 'train/loss', 'lr', 'train/acc', 'train/deep/loss', 'layer10/w', 'layer9/w'];
  const groups = figureGroups(figures.map((tag) => series(tag, '', [1])));
  expect(groups.map(({ name, charts }) => [name, charts.map(({ title }) => title)])).toEqual([
    ['', ['lr']],
    ['layer9', ['w']],
    ['layer10', ['w']],
    ['train', ['acc', 'deep/loss', 'loss']],
    ['val', ['acc']],
  ]);
  expect(
    figureGroups(
      figures.map((tag) => series(tag, '', [1])),
      'LOSS',
    ).flatMap(({ charts }) => charts.map(({ tag }) => tag)),
  ).toEqual(['train/deep/loss', 'train/loss']);
});

it('shows several writers in one chart, each with its newest figure at that time', () => {
  const [group] = figureGroups([
    series('loss', 'rank 10', [3, 2], 100.5),
    series('loss', 'rank 2', [5, 4, null]),
  ]);
  const chart = group?.charts[0];
  if (!chart) throw new Error('no chart');
  expect(figureLegend(chart, 100.7)).toEqual([
    { label: 'rank 2', color: 'blue', value: '5.000' },
    { label: 'rank 10', color: 'orange', value: '3.000' },
  ]);
  expect(figureLegend(chart, 99).map(({ value }) => value)).toEqual(['–', '–']);
  expect(figureSummary(chart)).toBe('loss at step 3: rank 2 –, rank 10 2.000; between 2.000 and 5.000');
  expect(figureTable(chart, 100)).toEqual({
    head: ['Time', 'Step', 'rank 2', 'rank 10'],
    rows: [
      ['0:02', '3', '–', '2.000'],
      ['0:01', '2', '4.000', '3.000'],
      ['0:00', '1', '5.000', '–'],
    ],
  });
});

import { expect, it } from 'vitest';
import {
  countsSteps,
  figureAxis,
  markAt,
  wholeRange,
  type FigureAxis,
} from '../../../src/webview/dashboard/charts/figureAxis.js';
import type { FigureSeries } from '../../../src/webview/protocol.js';
import {
  figureGroups,
  figureLegend,
  figureSummary,
  figureTable,
} from '../../../src/webview/dashboard/charts/figureGroups.js';

/** Run time without pauses. */
const since =
  (start: number) =>
  (time: number): number =>
    time - start;

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
  const time: FigureAxis = { kind: 'time', runTime: since(100) };
  expect(figureLegend(chart, time, 100.7 - 100)).toEqual([
    { label: 'rank 2', color: 'blue', value: '5.000' },
    { label: 'rank 10', color: 'orange', value: '3.000' },
  ]);
  expect(figureLegend(chart, time, -1).map(({ value }) => value)).toEqual(['–', '–']);
  expect(figureSummary(chart, time)).toBe('loss at step 3: rank 2 –, rank 10 2.000; between 2.000 and 5.000');
  expect(figureTable(chart, time)).toEqual({
    head: ['Time', 'Step', 'rank 2', 'rank 10'],
    rows: [
      ['0:02', '3', '–', '2.000'],
      ['0:01', '2', '4.000', '3.000'],
      ['0:00', '1', '5.000', '–'],
    ],
  });
});

it('stands by steps too: writers beside one another, the whole range, and marks by their time', () => {
  const step: FigureAxis = { kind: 'step', runTime: since(100) };
  const late = { ...series('loss', 'rank 1', [9, 8, 7], 500), step: [11, 12, 20] };
  const figures = [series('loss', 'rank 0', [3, 2, 1]), late];
  const chart = figureGroups(figures)[0]?.charts[0];
  if (!chart) throw new Error('no chart');
  expect(figureLegend(chart, step, 12).map(({ value }) => value)).toEqual(['1.000', '8.000']);
  expect(figureTable({ ...chart, series: [late] }, step).rows[0]).toEqual(['6:42', '20', '7.000']);
  expect(wholeRange(figures, step)).toEqual([1, 20]);
  expect(wholeRange(figures, { ...step, kind: 'time' })).toEqual([0, 402]);
  const mark = { time: 501.5, step: null, kind: 'restart', text: '' } as const;
  expect(markAt(mark, step, late)).toBe(16);
  expect(markAt({ ...mark, step: 3 }, step, late)).toBe(3);
});

it('leaves a pause out: what came after it stands where it began', () => {
  const axis: FigureAxis = { kind: 'time', runTime: (time) => time - 100 - (time < 500 ? 0 : 396) };
  const resumed = { ...series('loss', '', [4, 3, 2, 1]), time: [100, 101, 500, 501] };
  const chart = figureGroups([resumed])[0]?.charts[0];
  if (!chart) throw new Error('no chart');
  expect(wholeRange([resumed], axis)).toEqual([0, 5]);
  expect(figureLegend(chart, axis, 4).map(({ value }) => value)).toEqual(['2.000']);
  expect(figureTable(chart, axis).rows.map(([time]) => time)).toEqual(['0:05', '0:04', '0:01', '0:00']);
});

it('has no axis of steps where they stand still', () => {
  const still = { ...series('loss', '', [1, 2]), step: [0, 0] };
  expect(countsSteps([still])).toBe(false);
  expect(figureAxis('step', [still], since(5)).kind).toBe('time');
  expect(figureAxis('step', [series('loss', '', [1, 2])], since(5)).kind).toBe('step');
  expect(figureAxis('epoch', [series('loss', '', [1, 2])], since(5)).kind).toBe('time');
});

// What an own program reported: which figures stand, how few are kept, and which are known by name.
import { describe, expect, it } from 'vitest';
import type { FigureLine } from '../../../../src/core/contracts/figureSchema.js';
import { parseFigure } from '../../../../src/core/follow/figureLines.js';
import { Figures, isLoss, isRate } from '../../../../src/core/model/series/figures.js';
import { FigureSeries } from '../../../../src/core/model/series/figureSeries.js';

const line = (step: number, value: number | null, more: Partial<FigureLine> = {}): FigureLine => ({
  tag: 'loss',
  step,
  value,
  time: 1000 + step,
  generation: 1,
  writer: '',
  source: 'metrics.jsonl',
  ...more,
});
const rowsOf = (series: FigureSeries): [number, number | null][] => {
  const { step, value } = series.slice().rows;
  return step.map((at, row) => [at, value[row] ?? null]);
};

describe('a series', () => {
  it('is superseded from a step on that comes again', () => {
    const series = new FigureSeries();
    for (const step of [1, 2, 3, 4]) series.push(line(step, step));
    expect(series.push(line(3, 30, { generation: 2 }))).toBe(true);
    expect(rowsOf(series)).toEqual([
      [1, 1],
      [2, 2],
      [3, 30],
    ]);
    expect(series.push(line(9, 9))).toBe(false);
    expect(rowsOf(series)).toHaveLength(3);
  });

  it('stays the same when a stretch of the file is read twice', () => {
    const once = new FigureSeries();
    const twice = new FigureSeries();
    for (const step of [1, 2, 3, 4, 5]) once.push(line(step, step));
    for (const step of [1, 2, 3, 4, 3, 4, 5]) twice.push(line(step, step));
    expect(rowsOf(twice)).toEqual(rowsOf(once));
  });

  it('is bounded, and keeps extremes', () => {
    const series = new FigureSeries(64);
    for (let step = 1; step <= 10_000; step++) {
      series.push(line(step, step === 5000 ? 77 : step === 10 ? null : 1));
    }
    const { rows } = series.slice();
    expect(rows.step.length).toBeLessThanOrEqual(64);
    expect(rows.step.at(-1)).toBe(10_000);
    expect(Math.max(...rows.max.map((value) => value ?? 0))).toBe(77);
  });

  it('sends on only what is new', () => {
    const series = new FigureSeries();
    series.push(line(1, 1));
    const cursor = series.cursor();
    series.push(line(2, 2));
    expect(series.slice(cursor)).toMatchObject({ from: 0, rows: { step: [1, 2] } });
    const later = series.cursor();
    series.push(line(1, 5));
    expect(series.slice(later)).toMatchObject({ from: 0, rows: { step: [1], value: [5] } });
  });
});

describe('names', () => {
  it.each([
    'images_per_sec',
    'images/s',
    'Samples per second',
    'perf/img/sec',
    'train/throughput',
    'train_samples_per_second',
  ])('%s is a rate', (tag) => {
    expect(isRate(tag)).toBe(true);
  });
  it.each(['loss/s', 'tokens_per_sec', 'images', 'eval/samples_per_second'])('%s is none', (tag) => {
    expect(isRate(tag)).toBe(false);
  });
  it.each(['loss', 'train/loss', 'train_loss', 'Train/Total Loss'])('%s is a loss', (tag) => {
    expect(isLoss(tag)).toBe(true);
  });
  it.each(['val/loss', 'loss_scale', 'test/loss'])('%s is no loss of training', (tag) => {
    expect(isLoss(tag)).toBe(false);
  });

  it('give the first writer’s figures', () => {
    const figures = new Figures();
    figures.add(line(5, 1.5, { writer: 'rank 1' }));
    figures.add(line(5, 2.5, { writer: 'rank 0' }));
    for (const [step, rate] of [10, 30, 20].entries()) figures.add(line(6 + step, rate, { tag: 'images/s' }));
    expect(figures.loss).toBe(2.5);
    expect(figures.imagesPerSec).toBe(20);
    expect(figures.rates()).toEqual({ mean: 20, median: 20 });
    expect(figures.step).toBe(8);
    expect(figures.rateWriters).toBe(1);
  });

  it('say since which step the loss is no number', () => {
    const figures = new Figures();
    const since: (number | undefined)[] = [];
    for (const [step, value] of [1, null, null, 2, null, null].entries()) {
      figures.add(line(step, value));
      figures.add(line(step, null, { tag: 'other' }));
      since.push(figures.lossLostSince);
    }
    expect(since).toEqual([undefined, 1, 1, undefined, 4, 4]);
    figures.add(line(2, null, { generation: 2 })); // it was started again
    expect(figures.lossLostSince).toBe(2);
    figures.add(line(3, 1, { generation: 2 }));
    expect(figures.lossLostSince).toBeUndefined();
  });

  describe('of images/s that several writers report', () => {
    const reported = (writers: [writer: string, values: number[], generation?: number][], tag = 'img/s') => {
      const figures = new Figures();
      for (const [writer, values, generation = 1] of writers) {
        for (const [step, value] of values.entries()) {
          figures.add(line(step, value, { writer, tag, generation }));
        }
      }
      return figures;
    };

    it('are summed, and say of how many', () => {
      const figures = reported([
        ['', [90, 100]],
        ['#2', [190, 200]],
        ['#3', [300, 320]],
      ]);
      expect(figures.imagesPerSec).toBe(620);
      expect(figures.rates()).toEqual({ mean: 600, median: 600 });
      expect(figures.rateWriters).toBe(3);
    });

    it('are those of the first where the name says that they are of all', () => {
      const writers: [string, number[]][] = [
        ['rank 0', [400]],
        ['rank 1', [400]],
      ];
      for (const tag of ['global_img/s', 'perf/total_images_per_sec', 'overall throughput']) {
        const figures = reported(writers, tag);
        expect([figures.imagesPerSec, figures.rateWriters], tag).toEqual([400, 1]);
      }
      expect(reported(writers, 'global/img_per_sec').imagesPerSec).toBe(800); // a group says nothing
    });

    it('leave out ranks that a restart did not bring back, other tags, and evaluation', () => {
      const figures = reported([
        ['rank 0', [100], 2],
        ['rank 1', [100], 2],
        ['rank 2', [100], 1],
        ['validation', [5000], 2],
      ]);
      figures.add(line(1, 100, { writer: 'rank 0', tag: 'throughput', generation: 2 }));
      expect([figures.imagesPerSec, figures.rateWriters]).toEqual([200, 2]);
    });
  });
});

it('a line that is none is passed over', () => {
  expect(parseFigure('{"tag":"loss","step":1')).toBeUndefined();
  expect(parseFigure('{"tag":"loss","step":"1"}')).toBeUndefined();
  expect(parseFigure(JSON.stringify(line(1, null)))).toMatchObject({ tag: 'loss', value: null });
});

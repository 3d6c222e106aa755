import { describe, expect, it } from 'vitest';
import type { FigureLine } from '../../../../src/core/contracts/figureSchema.js';
import { metricSchema } from '../../../../src/core/contracts/metricsSchema.js';
import type { Metric } from '../../../../src/core/sweep/metric.js';
import { assertCompared, poorPlace, poorText, TrialMarks } from '../../../../src/core/sweep/prune.js';

const least: Metric = { name: 'loss', goal: 'min' };
const most: Metric = { name: 'val/acc', goal: 'max' };
const base = { time: 1, generation: 1 };
const figure = (tag: string, step: number, value: number | null, writer = 'rank0'): FigureLine => ({
  ...{ tag, step, value, writer, source: 'metrics.jsonl', ...base },
});

describe('marks', () => {
  it('are the best value up to the first report at each place or after it', () => {
    const marks = new TrialMarks(most, 10);
    for (const [step, value] of [
      [5, 0.2],
      [9, 0.4],
    ] as const) {
      marks.addFigure(figure('val/acc', step, value));
    }
    expect(marks.marks).toEqual([]);
    marks.addFigure(figure('val/acc', 10, 0.3));
    expect(marks.marks).toEqual([0.4]);
    marks.addFigure(figure('val/acc', 29, 0.5));
    expect(marks.marks).toEqual([0.4]);
    marks.addFigure(figure('val/acc', 95, 0.6)); // places 30 and 90
    expect(marks.marks).toEqual([0.4, 0.6, 0.6]);
  });

  it('are of the name that fits best, also where that one comes later', () => {
    const marks = new TrialMarks({ name: 'acc', goal: 'max' }, 1);
    marks.addFigure(figure('val/acc', 1, 0.9));
    expect(marks.marks).toEqual([0.9]);
    marks.addFigure(figure('acc', 1, 0.1));
    marks.addFigure(figure('other', 1, 5));
    expect(marks.marks).toEqual([0.1]);
  });

  it('count what is not a number as no value', () => {
    const marks = new TrialMarks(least, 1);
    marks.addFigure(figure('loss', 1, null));
    marks.addFigure(figure('loss', 3, 2));
    marks.addFigure(figure('loss', 9, null));
    expect(marks.marks).toEqual([null, 2, 2]);
  });

  it('begin anew where the file was replaced', () => {
    const marks = new TrialMarks(least, 1);
    marks.addFigure(figure('loss', 3, 2));
    marks.reset();
    expect(marks.marks).toEqual([]);
  });

  it('are of our trainer where it writes the lines', () => {
    const step = metricSchema.parse({
      ...{ kind: 'step', ...base, step: 10, epoch: 0.1, loss: 2.5, top1: 0.1, lr: 0.1 },
      ...{ images_per_sec: 100, step_ms: 1, comm_ms: 1, input_wait_ms: 1, world: 1 },
    });
    const evaluation = metricSchema.parse({
      ...{ kind: 'eval', ...base, step: 10, top1: 0.4, top5: 0.8, loss: 1.5, images: 10 },
      ...{ checkpoint: 'c', seconds: 1 },
    });
    const of = (name: string, goal: 'max' | 'min'): unknown => {
      const marks = new TrialMarks({ name, goal }, 10);
      marks.addMetric(step);
      marks.addMetric(evaluation);
      return marks.marks;
    };
    expect(of('loss', 'min')).toEqual([2.5]);
    expect(of('images_per_sec', 'max')).toEqual([100]);
    expect(of('eval.top1', 'max')).toEqual([0.4]);
    expect(of('eval.top5', 'max')).toEqual([0.8]);
    expect(of('eval.loss', 'min')).toEqual([1.5]);
    expect(of('acc', 'max')).toEqual([]);
  });
});

describe('a poor trial', () => {
  const poor = (mark: number | null, others: (number | null)[]): boolean =>
    poorPlace(
      least,
      [mark],
      others.map((one) => [one]),
      0,
    ) === 0;

  it('is not among the best third of those that came as far', () => {
    expect(poor(5, [])).toBe(false);
    expect(poor(5, [4])).toBe(true);
    expect(poor(3, [4])).toBe(false);
    expect(poor(3, [4, 5, 2, 6])).toBe(true); // of five the third is one
    expect(poor(3, [4, 5, 2, 6, 7])).toBe(false); // of six it is two
    expect(poor(3, [4, 1, 2, 6, 7])).toBe(true);
  });

  it('is none where others are as good', () => {
    expect(poor(4, [4, 4, 4])).toBe(false);
  });

  it('is one without a value, beside one that has a value', () => {
    expect(poor(null, [9])).toBe(true);
    expect(poor(null, [null])).toBe(false);
    expect(poor(9, [null])).toBe(false);
  });

  it('is looked at only at the places that are new, against those that reached them', () => {
    const others = [[0.1, 0.2], [0.3]];
    expect(poorPlace(most, [0.2, 0.3, 0.4], others, 0)).toBe(0);
    expect(poorPlace(most, [0.2, 0.3, 0.4], others, 1)).toBeUndefined();
    expect(poorPlace(most, [0.4, 0.1], others, 0)).toBe(1);
  });

  it('is told apart in words', () => {
    expect(poorText(most, 100, 1, 0.25)).toBe('val/acc 0.25 by step 300 is not among the best third');
    expect(poorText(least, 100, 0, null)).toBe('no loss by step 100 is not among the best third');
  });
});

it('refuses a place that no trial comes to', () => {
  const words = (steps: string): string[] => ['train', '--steps', steps];
  expect(() => {
    assertCompared(100, [words('50'), words('100')]);
  }).toThrow('trials are compared after step 100, and each ends after 100 steps');
  assertCompared(100, [words('50'), words('101')]);
  assertCompared(100, [['train', '--epochs', '3']]);
});

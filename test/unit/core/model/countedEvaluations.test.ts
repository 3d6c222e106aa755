import { expect, it } from 'vitest';
import { otherImagesText } from '../../../../src/core/model/countedEvaluations.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { evalLine, startLine } from '../../support/lines.js';

const own = '/d/validation';
const asked = { once: true };

function read(named: string | undefined, ...lines: ReturnType<typeof evalLine>[]): RunMetrics {
  const metrics = new RunMetrics(undefined, () => named);
  for (const line of [startLine(), ...lines]) metrics.add(line);
  return metrics;
}

it('an evaluation on other images is neither the best nor the last, also before the first own one', () => {
  const metrics = read(
    own,
    evalLine(10, 0.9, { data: '/d/all', ...asked, images: 1300 }),
    evalLine(10, 0.5, { data: own }),
    evalLine(20, 0.6, { data: `${own}/`, ...asked }),
    evalLine(20, 0.967, { data: '/d/all', ...asked, images: 1300 }),
  );
  expect(metrics.best).toMatchObject({ step: 20, top1: 0.6 });
  expect(metrics.lastEvaluation).toMatchObject({ step: 20, top1: 0.6 });
  expect(metrics.evaluations.all.map(({ top1 }) => top1)).toEqual([0.5, 0.6]);
  const [, other] = metrics.otherEvaluations.all;
  expect(other).toEqual({ step: 20, top1: 0.967, data: '/d/all', images: 1300 });
  expect(other && otherImagesText(other)).toBe('on all, 1,300 images');
});

it('where the record names no images, those of the first evaluation count', () => {
  const metrics = read(
    undefined,
    evalLine(10, 0.5, { data: '/d/a', ...asked }),
    evalLine(10, 0.9, { data: '/d/b', ...asked }),
    evalLine(20, 0.4, { data: '/d/a', ...asked }),
  );
  expect(metrics.evaluations.all.map(({ top1 }) => top1)).toEqual([0.5, 0.4]);
});

it('lines of older trainers, which name no images, count as before', () => {
  const metrics = read(own, evalLine(10, 0.9), evalLine(20, 0.8, { data: '/d/all', ...asked }));
  expect(metrics.evaluations.all.map(({ top1 }) => top1)).toEqual([0.9]);
});

it("the evaluator beside the training has the run's own images, whatever they are called there", () => {
  const metrics = read(
    '~/validation',
    evalLine(10, 0.5, { data: '/home/a/validation' }),
    evalLine(20, 0.6, { data: '/home/a/validation', ...asked }),
  );
  expect(metrics.best).toMatchObject({ step: 20 });
});

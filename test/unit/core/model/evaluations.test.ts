// The trainer reads which evaluations stand by a reader of its own, in C++. This file holds both
// readers to the same histories: `npx vitest run -u` on it writes the fixture of the native test
// (native/tests/train/standing_evaluations_test.cpp) anew.
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { metricSchema } from '../../../../src/core/contracts/metricsSchema.js';
import { check } from '../../../../src/core/base/validation.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { acts, History } from '../../support/histories.js';

const fixture = join(import.meta.dirname, '../../../../native/tests/fixtures/evaluations.jsonl');

function standingOf(text: string): [number, number][] {
  const metrics = new RunMetrics(undefined, () => '/images/validation');
  for (const line of text.split('\n')) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      continue; // torn
    }
    const read = check(metricSchema, value);
    if (read.ok) metrics.add(read.data);
  }
  return metrics.evaluations.all.map(({ step, top1 }) => [step, top1]);
}

it('the fixture of the native reader is what this reader finds', async () => {
  const histories = fc.sample(acts, { seed: 20261123, numRuns: 3000 }).map((list) => new History(list));
  const restarted = histories.filter(({ pieces, truth }) => {
    const starts = pieces.join('').split('"kind":"start"').length - 1;
    return starts > 1 && truth.evaluated.length > 0;
  });
  const lines = restarted.slice(0, 60).map((history) => {
    const metrics = history.pieces.join('');
    const standing = standingOf(metrics);
    expect(standing.map(([step]) => step)).toEqual(history.truth.evaluated);
    return `${JSON.stringify({ metrics, standing })}\n`;
  });
  expect(lines).toHaveLength(60);
  await expect(lines.join('')).toMatchFileSnapshot(fixture);
});

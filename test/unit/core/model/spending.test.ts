// Amounts are worked out by hand: 36 USD an hour are 0.01 USD a second.
import { describe, expect, it } from 'vitest';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { spendingOf, spendingText } from '../../../../src/core/model/spending.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';

const began = 1000;
const at = (seconds: number): { time: number } => ({ time: began + seconds });
const run = {
  price: { per: 'node', amount: 36, currency: 'USD' } as const,
  nodes: undefined,
  gpus: undefined,
  earlier: undefined,
};
const state = { started: began, ended: began + 400, updated: began + 400, generation: 2 };
const checkpoint = (step: number, seconds: number, generation = 1): Metric => {
  const more = { path: '/c', bytes: 1, write_ms: 1, generation };
  return { kind: 'checkpoint', step, ...at(seconds), ...more };
};
// Steps of a second. After step 100 the run fails, and goes on from step 50 at 200 s.
const lines: Metric[] = [
  startLine(at(10)),
  stepLine(50, { ...at(60), step_ms: 1000 }),
  checkpoint(50, 62),
  stepLine(100, { ...at(112), step_ms: 1000 }),
  evalLine(50, 0.5, at(75)),
  startLine({ ...at(200), generation: 2, resumed_from: '/c/step-00000050' }),
  stepLine(150, { ...at(300), step_ms: 1000, generation: 2 }),
  checkpoint(150, 302, 2),
  evalLine(150, 0.826, { ...at(320), generation: 2 }),
];
const read = (of: readonly Metric[]): RunMetrics => {
  const metrics = new RunMetrics();
  for (const line of of) metrics.add(line);
  return metrics;
};

describe('what a price went to', () => {
  const metrics = read(lines);

  it('is what an accuracy cost, up to the checkpoint that was evaluated', () => {
    // 82% is the whole percent below 82.6%: step 150, whose checkpoint was written after 302 s.
    const { toAccuracy } = spendingOf(run, state, metrics) ?? {};
    expect(toAccuracy?.accuracy).toBe(0.82);
    expect(toAccuracy?.amount).toBeCloseTo(3.02, 9);
    expect(spendingOf(run, state, metrics, 0.4)?.toAccuracy?.amount).toBeCloseTo(0.62, 9);
    expect(spendingOf(run, state, metrics, 0.9)?.toAccuracy).toBeUndefined();
  });

  it('is what restarts threw away, and the time without a step', () => {
    const found = spendingOf(run, state, metrics);
    // From the checkpoint at 62 s to 200 s.
    expect(found?.restarts).toBeCloseTo(1.38, 9);
    // 100 steps and 100 more took 200 of 400 s.
    expect(found?.idle).toBeCloseTo(2, 9);
    expect(found && spendingText(found)).toBe(
      '3.02 USD until top-1 82%, restarts 1.38 USD, without a step 2.00 USD',
    );
  });

  it('is not known without a price, without steps, or where a restart is not in the lines', () => {
    expect(spendingOf({ ...run, price: undefined }, state, metrics)).toBeUndefined();
    expect(spendingOf(run, null, metrics)).toBeUndefined();
    const none = spendingOf(run, state, read([]));
    expect(none).toEqual({ currency: 'USD', toAccuracy: undefined, restarts: undefined, idle: undefined });
    expect(none && spendingText(none)).toBe('');
  });
});

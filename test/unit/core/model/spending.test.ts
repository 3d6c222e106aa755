// Amounts are worked out by hand: 36 USD an hour are 0.01 USD a second.
import { describe, expect, it } from 'vitest';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { lostSeconds, lostToLast, spendingOf, spendingText } from '../../../../src/core/model/spending.js';
import { startsBy } from '../../../../src/core/model/starts.js';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
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

  it('has no restart where somebody resumed the run', () => {
    // It was over at 120 s, and resumed at 190 s.
    const earlier = [{ from: began, to: began + 120, generation: 1 }];
    const resumed = { ...state, started: began + 190 };
    const by = startsBy({ earlier }, resumed);
    expect(by).toEqual({ resumes: [began + 190], restarts: 0, sinceResume: 0 });
    expect(lostSeconds({ earlier }, resumed, metrics)).toBe(0);
    expect(lostToLast({ earlier }, resumed, metrics)).toBeUndefined();
    expect(lostSeconds(null, state, metrics)).toBe(138);
    expect(lostToLast(null, state, metrics)).toBe(138);
  });

  it('tells resumes from restarts, also where the supervisor did both', () => {
    const spans = [
      { from: began, to: began + 50, generation: 3 },
      { from: began + 60, to: began + 90, generation: 4 },
    ];
    const third = { started: began + 100, ended: null, updated: began + 150, generation: 6 };
    const resumes = [began + 60, began + 100];
    expect(startsBy({ earlier: spans }, third)).toEqual({ resumes, restarts: 3, sinceResume: 1 });
    // Records of an older client name no generations.
    const old = spans.map(({ from, to }) => ({ from, to }));
    expect(startsBy({ earlier: old }, third)).toMatchObject({ resumes, restarts: 3 });
    // A job that Slurm has queued again wrote such a record itself.
    const slurm = {} as NonNullable<RunFile['slurm']>;
    expect(startsBy({ earlier: old, slurm }, third)).toEqual({ resumes: [], restarts: 5, sinceResume: 5 });
    // The record is there, and the state is still the one that the last start left.
    const left = { ...third, started: began + 60, generation: 4 };
    expect(startsBy({ earlier: spans }, left)).toEqual({
      resumes: [began + 60],
      restarts: 2,
      sinceResume: 0,
    });
  });

  it('is not known without a price, without steps, or where a restart is not in the lines', () => {
    expect(spendingOf({ ...run, price: undefined }, state, metrics)).toBeUndefined();
    expect(spendingOf(run, null, metrics)).toBeUndefined();
    const none = spendingOf(run, state, read([]));
    expect(none).toEqual({ currency: 'USD', toAccuracy: undefined, restarts: undefined, idle: undefined });
    expect(none && spendingText(none)).toBe('');
  });
});

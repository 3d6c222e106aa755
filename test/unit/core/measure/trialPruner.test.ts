import { expect, it } from 'vitest';
import { Emitter } from '../../../../src/core/base/lifecycle.js';
import { nullLogger } from '../../../../src/core/base/log.js';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import type { FollowedLine, RunFollower } from '../../../../src/core/follow/run.js';
import { TrialPruner, type TrialPrunerOptions } from '../../../../src/core/measure/trialPruner.js';
import { newTrial, type Trial } from '../../../../src/core/sweep/record.js';

const trialOf = (number: number, change: Partial<Trial> = {}): Trial => ({
  ...newTrial({ number, name: `t-${number}`, values: {}, command: 'true' }),
  ...change,
});

/** A pruner of trial 2 beside a trial 1 that came to 0.5 after 10 steps. */
function beside(change: Partial<Trial> = {}, more: Partial<TrialPrunerOptions> = {}) {
  const states = new Emitter<RunDetails>();
  const metrics = new Emitter<FollowedLine<Metric>>();
  const follower = {
    onMetric: metrics.event,
    onReset: () => undefined,
    onState: states.event,
  } as unknown as RunFollower;
  let trial = trialOf(2, change);
  const stops: string[] = [];
  const pruner = new TrialPruner({
    ...{ metric: { name: 'acc', goal: 'max' }, first: 10, logger: nullLogger },
    trial: () => trial,
    others: () => [trialOf(1, { marks: [0.5] })],
    change: (now) => {
      trial = { ...trial, ...now };
      return Promise.resolve();
    },
    stop: () => {
      stops.push('stop');
      return Promise.resolve();
    },
    ...more,
  });
  pruner.follow(follower);
  const [file] = pruner.files;
  let offset = 0;
  return {
    pruner,
    stops,
    trial: () => trial,
    report: (step: number, value: number) => {
      const line = { tag: 'acc', step, value, time: 1, generation: 1, writer: 'w', source: 's' };
      file?.onLine({ offset: offset++, text: JSON.stringify(line) });
    },
    evaluated: (step: number, top1: number, of: { data: string; once?: boolean }) => {
      const line = { kind: 'eval', time: 1, generation: 1, step, top1, top5: 1, loss: 1 } as const;
      const value = { ...line, images: 9, checkpoint: 'c', seconds: 1, ...of };
      metrics.fire({ offset: 0, raw: value, value });
    },
    replaced: () => {
      file?.onReset();
    },
    look: async (phase: 'running' | 'finished') => {
      states.fire({ state: { phase }, interrupted: false } as RunDetails);
      await pruner.end();
    },
  };
}

it('notes what a trial came to, and asks a poor one to stop, once', async () => {
  const one = beside();
  one.report(9, 0.1);
  await one.look('running');
  expect(one.trial().marks).toBeUndefined();
  one.report(10, 0.3);
  await one.look('running');
  await one.look('running');
  expect(one.trial()).toMatchObject({
    ...{ marks: [0.3], poor: 'acc 0.3 by step 10 is not among the best third' },
  });
  expect(one.stops).toHaveLength(1);
});

it('lets a good one go on', async () => {
  const one = beside();
  one.report(10, 0.7);
  await one.look('running');
  expect(one.trial()).toMatchObject({ marks: [0.7] });
  expect(one.trial().poor).toBeUndefined();
  expect(one.stops).toEqual([]);
});

it('judges none that has ended, and notes what it came to', async () => {
  const one = beside();
  one.report(10, 0.3);
  await one.look('finished');
  expect(one.trial().marks).toEqual([0.3]);
  expect(one.trial().poor).toBeUndefined();
});

it('asks again where the stop failed, and where the sweep was ended before it', async () => {
  let tries = 0;
  const stop = (): Promise<void> =>
    ++tries === 1 ? Promise.reject(new Error('no answer')) : Promise.resolve();
  const one = beside({ marks: [0.3], poor: 'worse' }, { stop });
  for (let look = 0; look < 4; look++) await one.look('running');
  expect(tries).toBe(2);
});

it('counts no evaluation on images other than those of the run', async () => {
  const one = beside({}, { metric: { name: 'eval.top1', goal: 'max' } });
  one.evaluated(5, 0.2, { data: 'own' });
  one.evaluated(5, 0.9, { data: 'easy', once: true });
  one.evaluated(10, 0.3, { data: 'own' });
  await one.look('running');
  expect(one.trial().marks).toEqual([0.3]);
});

it('keeps a judgement where the file was replaced', async () => {
  const one = beside();
  one.report(10, 0.7);
  await one.look('running');
  one.replaced();
  one.report(10, 0.1);
  await one.look('running');
  expect(one.trial().marks).toEqual([0.7]);
  one.report(30, 0.2);
  await one.look('running');
  expect(one.trial().marks).toEqual([0.7, 0.2]); // nobody else came as far
  expect(one.stops).toEqual([]);
});

it('fails where a change cannot be noted', async () => {
  const change = (): Promise<void> => Promise.reject(new Error('the disk is full'));
  const one = beside({}, { change });
  one.report(10, 0.7);
  await one.look('running');
  await expect(one.pruner.failure).rejects.toThrow('the disk is full');
});

// Expected amounts are worked out by hand beside each.
import { describe, expect, it } from 'vitest';
import {
  costOf,
  costText,
  costUntil,
  moneyText,
  priceOf,
  startsOf,
} from '../../../../src/core/cost/runCost.js';
import { heldSeconds } from '../../../../src/core/cost/heldTime.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';

const node = { host: 'a', address: 'a', slots: 8 };
const eight = { ...node, gpus: [0, 1, 2, 3, 4, 5, 6, 7] };
const perNode = { per: 'node', amount: 24.48, currency: 'USD' } as const;
const perGpu = { per: 'gpu', amount: 2.5, currency: 'EUR' } as const;
const times = (seconds: number, ended = false) => ({
  started: 1000,
  ended: ended ? 1000 + seconds : null,
  updated: 1000 + seconds,
  generation: 1,
});
const unknown = {
  over: false,
  secondsLeft: undefined,
  secondsPerStep: undefined,
  totalSteps: undefined,
  totalEpochs: undefined,
};

describe('the price of a profile', () => {
  const lab: Profile = { name: 'lab', kind: 'local' };
  it('is per node or per GPU, in dollars unless it says otherwise', () => {
    expect(priceOf(lab)).toBeUndefined();
    expect(priceOf({ ...lab, pricePerNodeHour: 24.48 })).toEqual(perNode);
    expect(priceOf({ ...lab, pricePerGpuHour: 2.5, currency: 'EUR' })).toEqual(perGpu);
  });
});

describe('the cost of a run', () => {
  it('is for all nodes, from the start to the end', () => {
    // 4 nodes x 24.48 = 97.92 an hour; 15 min are 24.48.
    const run = { price: perNode, nodes: [eight, eight, eight, eight], gpus: undefined };
    const cost = costOf(run, times(900, true), { ...unknown, over: true, secondsLeft: 50 });
    expect(cost?.perHour).toBeCloseTo(97.92, 10);
    expect(cost?.soFar).toBeCloseTo(24.48, 10);
    expect(cost?.atEnd).toBe(cost?.soFar);
    expect(cost && costText(cost, true)).toBe('24.48 USD');
  });

  it('leaves out a head without ranks', () => {
    const head = { host: 'login', address: 'login', slots: 0, gpus: null };
    const run = { price: perNode, nodes: [head, eight, eight], gpus: undefined };
    expect(costOf(run, times(3600), unknown)?.soFar).toBeCloseTo(48.96, 10); // 2 nodes for an hour
  });

  it('is for the GPUs that the ranks hold', () => {
    // 2 x 8 GPUs x 2.50 = 40 an hour; 36 s are 0.40.
    const run = { price: perGpu, nodes: [eight, eight], gpus: undefined };
    expect(costOf(run, times(36), unknown)?.soFar).toBeCloseTo(0.4, 10);
    // One machine, GPUs 1 and 3: 5 an hour; 72 s are 0.10.
    const here = { price: perGpu, nodes: undefined, gpus: [1, 3] };
    expect(costOf(here, times(72), unknown)?.soFar).toBeCloseTo(0.1, 10);
    const onCpus = { price: perGpu, nodes: undefined, gpus: null };
    expect(costOf(onCpus, times(72), unknown)?.soFar).toBe(0);
  });

  it('says what it comes to at the end, and for an epoch', () => {
    // 24.48 an hour is 0.0068 a second. 500 s so far: 3.40. 500 s left: 6.80 in all.
    // 1,000 steps in 10 epochs at 1 s: 100 s an epoch, 0.68.
    const run = { price: perNode, nodes: undefined, gpus: undefined };
    const pace = { over: false, secondsLeft: 500, secondsPerStep: 1, totalSteps: 1000, totalEpochs: 10 };
    const cost = costOf(run, times(500), pace);
    expect(cost && costText(cost, false)).toBe('3.40 USD so far, about 6.80 USD in all, 0.68 USD an epoch');
    expect(costOf(run, times(500), unknown)).toMatchObject({ atEnd: undefined, perEpoch: undefined });
  });

  it('is not known without a price or before the start', () => {
    expect(costOf({ price: undefined, nodes: undefined, gpus: null }, times(5), unknown)).toBeUndefined();
    expect(costOf({ price: perNode, nodes: undefined, gpus: null }, null, unknown)).toBeUndefined();
    expect(costOf(null, times(5), unknown)).toBeUndefined();
  });
});

describe('a run that was resumed', () => {
  const run = { price: perNode, nodes: [eight, eight], gpus: undefined }; // 48.96 an hour
  it('costs what all its starts cost, each by its own price', () => {
    // 30 min at 48.96 an hour are 24.48; then 15 min of one node are 6.12.
    const earlier = startsOf(run, times(1800, true));
    expect(earlier).toEqual([{ from: 1000, to: 2800, perHour: 48.96, currency: 'USD', generation: 1 }]);
    const again = { ...run, nodes: [eight], earlier };
    const state = { started: 5000, ended: 5900, updated: 5900, generation: 3 };
    expect(costOf(again, state, { ...unknown, over: true })?.soFar).toBeCloseTo(30.6, 10);
    // Half of the first start; the pause between both; a third of the second one.
    expect(costUntil(again, state, 1900)).toBeCloseTo(12.24, 10);
    expect(costUntil(again, state, 4000)).toBeCloseTo(24.48, 10);
    expect(costUntil(again, state, 5300)).toBeCloseTo(26.52, 10);
    expect(heldSeconds(again, state)).toBe(2700);
    expect(heldSeconds(again, state, 1900)).toBe(900);
    expect(startsOf(again, state)).toEqual([
      ...earlier,
      { from: 5000, to: 5900, perHour: 24.48, currency: 'USD', generation: 3 },
    ]);
  });

  it('counts a start once whose state is still there', () => {
    const state = times(1800, true);
    const again = { ...run, earlier: startsOf(run, state) };
    expect(costUntil(again, state)).toBeCloseTo(24.48, 10);
    expect(startsOf(again, state)).toEqual(again.earlier);
  });

  it('adds nothing of a start without a price, or in another currency', () => {
    const free = startsOf({ ...run, price: undefined }, times(1800, true));
    expect(free).toEqual([{ from: 1000, to: 2800, generation: 1 }]);
    const state = { started: 5000, ended: 5900, updated: 5900, generation: 3 };
    for (const earlier of [free, [{ from: 1000, to: 2800, perHour: 9, currency: 'EUR' }]]) {
      expect(costUntil({ ...run, earlier }, state)).toBeCloseTo(12.24, 10);
    }
  });
});

it('shows amounts below ten cents with digits that tell them apart', () => {
  expect([0, 0.0004, 0.0041, 0.005, 0.0149, 0.05, 3.1].map((amount) => moneyText(amount, 'USD'))).toEqual([
    '0.00 USD',
    '0.0004 USD',
    '0.0041 USD',
    '0.005 USD',
    '0.015 USD',
    '0.05 USD',
    '3.10 USD',
  ]);
  expect(moneyText(4e-7, 'USD')).toBe('0.0000004 USD');
});

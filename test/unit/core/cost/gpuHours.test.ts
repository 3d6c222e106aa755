import { expect, test } from 'vitest';
import { gpuHoursOf, gpuHoursText } from '../../../../src/core/cost/gpuHours.js';
import { startsOf } from '../../../../src/core/cost/runCost.js';

const slurm = { requeue: true, layout: [] };
const nodes = [
  { host: 'n1', address: 'n1', slots: 2, gpus: [0, 1] },
  { host: 'n2', address: 'n2', slots: 2, gpus: [0, 1] },
];
const state = { started: 10_000, ended: null, updated: 11_800, generation: 2 };

test('GPU hours are those of all starts of a run that Slurm has started', () => {
  const run = { slurm, nodes };
  expect(gpuHoursOf(run, state)).toBeCloseTo(2, 9);
  const earlier = [
    { from: 0, to: 3600, gpus: 8 },
    { from: 4000, to: 7600 }, // on CPUs
  ];
  expect(gpuHoursOf({ ...run, earlier }, state)).toBeCloseTo(10, 9);
  // A state that the last start has left counts once.
  const left = startsOf({ ...run, earlier }, state);
  expect(left.at(-1)).toEqual({ from: 10_000, to: 11_800, gpus: 4, generation: 2 });
  expect(gpuHoursOf({ ...run, earlier: left }, state)).toBeCloseTo(10, 9);
});

test('a run without Slurm, without a start or without GPUs has none', () => {
  expect(gpuHoursOf({ nodes }, state)).toBeUndefined();
  expect(gpuHoursOf({ slurm, nodes }, null)).toBeUndefined();
  expect(
    gpuHoursOf({ slurm, nodes: [{ host: 'n1', address: 'n1', slots: 1, gpus: null }] }, state),
  ).toBeUndefined();
  expect(gpuHoursOf(null, state)).toBeUndefined();
});

test.each([
  [0.0139, '0.01'],
  [9.5, '9.50'],
  [2048.06, '2048.1'],
])('%d hours read %s', (hours, text) => {
  expect(gpuHoursText(hours)).toBe(text);
});

import { expect, it } from 'vitest';
import { riskText } from '../../../src/ui/riskText.js';
import { listedRun } from '../support/listedRun.js';

const run = (fields: Parameters<typeof listedRun>[2], status: Parameters<typeof listedRun>[1] = 'running') =>
  listedRun('20261125-100000-mlp-1f2e', status, fields);

it('counts the steps since the newest checkpoint, and their time where the pace is known', () => {
  const checkpoint = { step: 40, time: 1 };
  expect(riskText(run({ step: 45, checkpoint, secondsPerStep: 7.8 }))).toBe('5 steps (39 s)');
  expect(riskText(run({ step: 41, checkpoint, secondsPerStep: undefined }))).toBe('1 step');
  expect(riskText(run({ step: 45, checkpoint, secondsPerStep: undefined }), 44)).toBe('1 step');
  expect(riskText(run({ step: 7, checkpoint: undefined, secondsPerStep: undefined }))).toBe('7 steps');
});

it('says nothing before the first step, and of a run that is over', () => {
  expect(riskText(run({ step: undefined }))).toBeUndefined();
  expect(riskText(run({ step: 45 }, 'finished'))).toBeUndefined();
});

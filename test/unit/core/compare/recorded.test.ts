// Recorded runs of the real trainer (test/fixtures/forecast), compared; each amount is worked out
// by hand from times in the files. The price is 3,600 USD an hour, so a second costs 1 USD.
import { expect, it } from 'vitest';
import type { ComparedRun } from '../../../../src/core/compare/comparedRun.js';
import { compareRuns } from '../../../../src/core/compare/comparison.js';
import { compared, madeEntry } from '../../support/madeRuns.js';
import { recordedRun } from '../../support/recordedRuns.js';

const price = { per: 'node', amount: 3600, currency: 'USD' } as const;

function run(name: string): ComparedRun {
  const { started, ended, generation, metrics } = recordedRun(name);
  const entry = madeEntry({ id: name, price, seconds: ended - started, generation });
  const state = entry.state && { ...entry.state, started, ended, updated: ended };
  return compared({ ...entry, state }, metrics);
}

const comparison = compareRuns([run('evaluation-each-epoch'), run('evaluation-of-mlp'), run('restart')], 0.5);
const texts = (title: string): readonly string[] =>
  comparison.columns.find((column) => column.title === title)?.texts ?? [];

it('costs the time between start and end', () => {
  // 278.569271 - 250.129686 = 28.439585; 304.494308 - 281.235563 = 23.258745;
  // 423.660672 - 391.995869 = 31.664803 (the last digits of the seconds since the epoch).
  expect(texts('price so far')).toEqual(['28.44 USD', '23.26 USD', '31.66 USD']);
});

it('costs an epoch the median of all but the first', () => {
  // Epochs 2 to 7 of 15 steps: 3.850, 3.857, 4.067, 3.750, 3.652, 3.880; between 3.850 and 3.857:
  // 3.854. Epochs 2 to 8 of 5 steps: 2.637, 2.689, 2.628, 2.631, 2.650, 2.635, 2.741: 2.637.
  expect(texts('price of an epoch')).toEqual(['3.85 USD', '2.64 USD', '']);
});

it('costs an accuracy the time until the step that first had it', () => {
  // 0.383, 0.383, 0.467, then 0.617 at step 60, made 16.146 s after the start; 0.633 at step 5:
  // 3.617 s.
  expect(texts('price to 50%')).toEqual(['16.15 USD', '3.62 USD', '']);
});

it('costs a restart the time from its checkpoint to its start', () => {
  // The checkpoint of step 30 was written at 6.681 s, and the second generation began at 16.853 s.
  expect(texts('price of restarts')).toEqual(['0.00 USD', '0.00 USD', '10.17 USD']);
  // Steps took 25.980, 20.148 and 20.503 s of 28.440, 23.259 and 31.665 s.
  expect(texts('price without a step')).toEqual(['2.46 USD', '3.11 USD', '11.16 USD']);
});

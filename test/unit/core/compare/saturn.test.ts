// A published table of three trainings of ResNet50 on 285 classes of birds, 50 epochs each: made as
// runs, and compared. Every amount is worked out by hand. The price is 4.28 USD per GPU and hour.
import { expect, it } from 'vitest';
import type { ComparedRun } from '../../../../src/core/compare/comparedRun.js';
import { compareRuns } from '../../../../src/core/compare/comparison.js';
import { csvOf, markdownOf } from '../../../../src/core/compare/exports.js';
import { compared, madeEntry, trainingLines } from '../../support/madeRuns.js';

const price = { per: 'gpu', amount: 4.28, currency: 'USD' } as const;
const birds = { images: 40_930, epochs: 50 };

interface Row {
  gpus: number;
  batch: number;
  /** Of an epoch, and of all. */
  later: number;
  seconds: number;
  top1: number;
}

function train(id: string, { gpus, batch, later, seconds, top1 }: Row): ComparedRun {
  // 50 epochs fill the whole time: what the later 49 leave is the first one's.
  const firstEpoch = seconds - 49 * later;
  const argv = ['train', '--model', 'resnet50', '--learning-rate', '0.02'];
  const entry = madeEntry({ id, argv, gpus, price, seconds });
  return compared(entry, trainingLines({ ...birds, batch, firstEpoch, laterEpochs: later, top1 }));
}

const runs = [
  train('one-64', { gpus: 1, batch: 64, later: 121, seconds: 6278, top1: 0.8014 }),
  train('four-256', { gpus: 4, batch: 256, later: 37, seconds: 2036, top1: 0.8365 }),
  train('four-512', { gpus: 4, batch: 512, later: 33, seconds: 1849, top1: 0.8519 }),
];
const comparison = compareRuns(runs);
const texts = (title: string): readonly string[] =>
  comparison.columns.find((column) => column.title === title)?.texts ?? [];

it('has times and accuracies of the table', () => {
  expect(texts('time an epoch')).toEqual(['2 min 1 s', '37.0 s', '33.0 s']);
  // 6,278 s = 1 h (3,600) + 44 min (2,640) + 38 s; 2,036 s = 33 min + 56 s; 1,849 s = 30 min + 49 s.
  expect(texts('total time')).toEqual(['1 h 44 min 38 s', '33 min 56 s', '30 min 49 s']);
  expect(texts('best top-1')).toEqual(['80.14%', '83.65%', '85.19%']);
  expect(texts('epochs')).toEqual(['50', '50', '50']);
});

it('costs what the table says, to the cent', () => {
  // 1 x 4.28 x 6,278 / 3,600 = 26,869.84 / 3,600 = 7.4638
  // 4 x 4.28 x 2,036 / 3,600 = 34,856.32 / 3,600 = 9.6823
  // 4 x 4.28 x 1,849 / 3,600 = 31,654.88 / 3,600 = 8.7930
  expect(texts('price so far')).toEqual(['7.46 USD', '9.68 USD', '8.79 USD']);
  // 4.28 x 121 / 3,600 = 0.1438; 17.12 x 37 / 3,600 = 0.1759; 17.12 x 33 / 3,600 = 0.1569
  expect(texts('price of an epoch')).toEqual(['0.14 USD', '0.18 USD', '0.16 USD']);
});

it('says what 80% cost, which all have reached', () => {
  // After epoch e the accuracy is e/50 of the best one. 80% are reached after
  // epoch 50 of 0.8014 (49: 0.7854): 6,278 s, so 7.46;
  // epoch 48 of 0.8365 (0.8030; 47: 0.7863): 223 + 47 x 37 = 1,962 s, 17.12 x 1,962 / 3,600 = 9.3304;
  // epoch 47 of 0.8519 (0.8008; 46: 0.7837): 232 + 46 x 33 = 1,750 s, 17.12 x 1,750 / 3,600 = 8.3222.
  expect(comparison.accuracy).toBe(0.8);
  expect(texts('time to 80%')).toEqual(['1 h 44 min 38 s', '32 min 42 s', '29 min 10 s']);
  expect(texts('price to 80%')).toEqual(['7.46 USD', '9.33 USD', '8.32 USD']);
  // Of 85% only the last run has epoch 50 (49: 0.8349). What the others did not reach is empty.
  const better = compareRuns(runs, 0.85).columns.find(({ title }) => title === 'price to 85%');
  expect(better?.texts).toEqual(['', '', '8.79 USD']);
});

it('names what differs, and nothing else', () => {
  expect(Object.fromEntries(comparison.differences.map(({ name, values }) => [name, values]))).toEqual({
    'batch-size': ['64', '256', '512'],
    'batch of an update': ['64', '256', '512'],
    ranks: ['1', '4', '4'],
    GPUs: ['1', '4', '4'],
  });
});

it('is the same in CSV and Markdown', () => {
  const [head = [], ...rows] = csvOf(comparison)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  const at = head.indexOf('cost');
  expect(rows.map((row) => Number(row[at]).toFixed(2))).toEqual(['7.46', '9.68', '8.79']);
  const markdown = markdownOf(comparison).split('\n');
  expect(markdown[0]).toContain('| time an epoch | total time |');
  expect(markdown[4]).toContain('| 8.79 USD |');
});

// Which values a comparison marks as the best ones.
import { expect, it } from 'vitest';
import { bestRows } from '../../../src/webview/compare/model/rows.js';
import type { ComparedColumn, ComparisonUpdate } from '../../../src/webview/protocol.js';

const curve = { name: 'loss', step: [1], epoch: [0.5], hours: [0.1], value: [2] };
const runs = ['finished', 'stopped', 'finished', 'failed'].map((status) => ({
  ...{ id: status, label: status, tags: [], profile: 'local', dir: `/${status}`, status, curves: [curve] },
})) satisfies ComparisonUpdate['runs'];
const rows = [0, 1, 2, 3];
const best = (key: string, better: ComparedColumn['better'], values: (number | null)[]): number[] => [
  ...bestRows({ key, title: key, better, values, texts: [] }, rows, runs),
];

it('a program without figures, or of another kind, is not compared by time', () => {
  const column = { key: 'seconds', title: '', better: 'low', values: [300, 1, 200], texts: [] } as const;
  const bestOf = (...curves: ComparisonUpdate['runs'][number]['curves'][]): number[] => {
    const compared = curves.map((each) => ({ ...runs[0]!, curves: each }));
    return [...bestRows({ ...column, values: [...column.values], texts: [] }, [0, 1, 2], compared)];
  };
  expect(bestOf([curve], [], [curve])).toEqual([2]);
  expect(bestOf([curve], [{ ...curve, epoch: [null] }], [curve])).toEqual([]);
  expect(bestOf([curve], [curve], [curve])).toEqual([1]);
});

it('a run that did not finish has not the best time or price of a whole run', () => {
  expect(best('seconds', 'low', [300, 20, 200, 1])).toEqual([2]);
  expect(best('cost', 'low', [3, 0.1, 4, 0.1])).toEqual([0]);
  expect(best('seconds', 'low', [300, 20, null, 1])).toEqual([]); // alone it is no best one
});

it('what does not add up over a run may be best in any run', () => {
  expect(best('best_top1', 'high', [0.3, 0.5, 0.4, null])).toEqual([1]);
  expect(best('seconds_per_epoch', 'low', [4, 2, 3, 2])).toEqual([1, 3]);
  expect(best('steps', null, [1, 2, 3, 4])).toEqual([]);
});

// All-reduces of a deep check: lines as the trainer prints them, and who is named.
import { expect, it } from 'vitest';
import { judgeSums, sumsOf } from '../../../../src/core/check/sums.js';

const names = ['a', 'b', 'c', 'd'];

const line = (bytes: number, gbs: number, pair?: readonly [number, number]): string => {
  const sum = { bytes, ms: 1, algorithm_gbs: gbs, bus_gbs: gbs, world: pair ? 2 : 4, comm: 'mpi' };
  return JSON.stringify(pair ? { ...sum, pair } : { ...sum, all_reduce: 'library', sent_bytes: null });
};

/** Every pair of the four; those of `slow` are at a hundredth. */
const printed = (slow?: number): string[] => [
  line(4096, 0.1),
  line(4_194_304, slow === undefined ? 1.25 : 0.0125),
  'words of a start file',
  ...names.flatMap((_, a) =>
    names.flatMap((__, b) =>
      a < b ? [line(4_194_304, a === slow || b === slow ? 0.0125 : 1.2, [a, b])] : [],
    ),
  ),
];

it('tells the largest sum of all nodes, and of each node the best pair', () => {
  const results = judgeSums(names, sumsOf([printed().join('\n')]));
  expect(results.map(({ host, ok, warning }) => [host, ok, warning])).toEqual([
    [undefined, true, undefined],
    ...names.map((host) => [host, true, undefined]),
  ]);
  expect(results[0]?.detail).toBe('1.25 GB/s of bus bandwidth over 4 nodes by MPI, 4.2 MB at once');
  expect(results[1]?.detail).toBe('1.20 GB/s with the node that it reaches best');
});

it.each([0, 2, 3])('names the node %i whose pairs are all slow, and no other', (slow) => {
  const warnings = judgeSums(names, sumsOf(printed(slow))).filter(({ warning }) => warning === true);
  expect(warnings.map(({ host, detail }) => [host, detail])).toEqual([
    [names[slow], '0.0125 GB/s with the node that it reaches best: most have 1.20 GB/s'],
  ]);
});

it('of two nodes nobody can say whose fault it is, and nothing printed is nothing told', () => {
  const two = [line(4096, 0.001), line(4096, 0.001, [0, 1])];
  expect(judgeSums(['a', 'b'], sumsOf(two)).filter(({ warning }) => warning === true)).toEqual([]);
  expect(judgeSums(names, sumsOf(['', '{}', '[1]']))).toEqual([]);
});

// Who is slow, by what was measured.
import { expect, it } from 'vitest';
import {
  judgeDevices,
  judgeLinks,
  judgeReads,
  roundsOf,
  slowOf,
  type LinkRate,
  type ReadSample,
} from '../../../../src/core/check/slow.js';

const nodes = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index + 1}`);
const gigabit = 1e9 / 8;

/** All links of these nodes, a little different each; `rate` may know better. */
function links(names: readonly string[], rate: (from: string, to: string) => number | undefined): LinkRate[] {
  return names.flatMap((from, a) =>
    names.flatMap((to, b) =>
      a === b ? [] : [{ from, to, rate: rate(from, to) ?? gigabit * (9 + ((a * 7 + b * 3) % 5) / 10) }],
    ),
  );
}
const warnings = (names: readonly string[], rates: readonly LinkRate[]): string[] =>
  judgeLinks(names, rates).flatMap(({ host, warning, detail }) =>
    warning === true ? [`${host}: ${detail}`] : [],
  );

it.each([3, 4, 32])('of %i nodes, one whose sending is slow is named with figures, and no other', (count) => {
  const names = nodes(count);
  const found = warnings(
    names,
    links(names, (from) => (from === 'n2' ? gigabit / 10 : undefined)),
  );
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^n2: sends 100 Mbit\/s, receives 9\.\d Gbit\/s: most send 9\.\d Gbit\/s$/);
});

it('a node that is slow both ways, and a pair that is slow alone', () => {
  const names = nodes(6);
  const slow = warnings(
    names,
    links(names, (from, to) => (from === 'n5' || to === 'n5' ? gigabit : undefined)),
  );
  expect(slow).toEqual([expect.stringMatching(/^n5: .*most send .*most receive/)]);
  const pair = warnings(
    names,
    links(names, (from, to) => (from === 'n1' && to === 'n4' ? gigabit : undefined)),
  );
  expect(pair).toEqual([expect.stringMatching(/^n1: .*only 1\.0 Gbit\/s to n4$/)]);
});

it('usual differences name nobody, and neither does one link', () => {
  expect(
    warnings(
      nodes(8),
      links(nodes(8), () => undefined),
    ),
  ).toEqual([]);
  expect(
    warnings(
      nodes(2),
      links(nodes(2), () => gigabit),
    ),
  ).toEqual([]);
});

it('a device is compared with those of its kind', () => {
  const rate = (host: string, device: string, kind: string, tflops: number) => ({
    ...{ host, device, kind, rate: tflops },
  });
  const rows = judgeDevices([
    ...nodes(5).map((host, index) => rate(host, 'CPU', '64 cores', index === 3 ? 0.4 : 2 + index / 20)),
    rate('n6', 'CPU', '2 cores', 0.1),
  ]);
  expect(rows.map(({ host, warning, detail }) => [host, warning, detail])).toEqual([
    ['n1', undefined, 'CPU 2.0 TFLOP/s'],
    ['n2', undefined, 'CPU 2.0 TFLOP/s'],
    ['n3', undefined, 'CPU 2.1 TFLOP/s'],
    ['n4', true, 'CPU 400 GFLOP/s; CPU is slow: most have 2.0 TFLOP/s'],
    ['n5', undefined, 'CPU 2.2 TFLOP/s'],
    ['n6', undefined, 'CPU 100 GFLOP/s'],
  ]);
});

it('a wide spread makes nobody slow', () => {
  const { isSlow } = slowOf([4, 5, 9, 10, 11, 15, 16]);
  expect(isSlow(4)).toBe(false);
  expect(slowOf([10, 10, 10, 5]).isSlow(5)).toBe(true);
});

it.each([2, 3, 4, 7, 32])('%i nodes meet in disjoint pairs, each pair once', (count) => {
  const rounds = roundsOf(count, 100);
  const all = rounds.flat().map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  expect(new Set(all).size).toBe((count * (count - 1)) / 2);
  expect(all).toHaveLength((count * (count - 1)) / 2);
  for (const round of rounds) expect(new Set(round.flat()).size).toBe(round.length * 2);
  expect(roundsOf(count, 1)).toHaveLength(1);
});

it('a node that reads its data slowly is named, and one that has nothing to read', () => {
  const read = (host: string, bytes: number): ReadSample => ({ host, bytes, files: 3, seconds: 1.5 });
  const rows = judgeReads([read('n1', 3e9), read('n2', 2.9e9), read('n3', 3e8), read('n4', 3e9)]);
  expect(rows.map(({ host, detail, warning = false }) => [host, detail, warning])).toEqual([
    ['n1', '2.0 GB/s by one reader, 3 files', false],
    ['n2', '1.9 GB/s by one reader, 3 files', false],
    ['n3', '200 MB/s by one reader, 3 files: most have 2.0 GB/s', true],
    ['n4', '2.0 GB/s by one reader, 3 files', false],
  ]);
  expect(judgeReads([read('n1', 0)])).toMatchObject([{ detail: 'there is nothing to read', warning: true }]);
});

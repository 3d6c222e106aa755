// Six set-ups as their figures would be. npm run bench:bottleneck runs some of them for real.
import { expect, it } from 'vitest';
import { findBottleneck, type BatchProbe } from '../../../../src/core/scaling/bottleneck.js';
import type { RankTimes } from '../../../../src/core/model/hosts/slowRanks.js';
import type { ScalingPoint } from '../../../../src/core/scaling/series.js';
import { madePoint } from './made.js';

const one = madePoint({ replicas: 1 });
/** With a batch four times as large, one replica makes as many images/s. */
const same: BatchProbe = { batch: 128, imagesPerSec: 320 };

const kindOf = (last: ScalingPoint, probe: BatchProbe | null = same, first = one): string | undefined =>
  findBottleneck([first, last], probe)?.kind;

it('names each of six set-ups', () => {
  expect(kindOf(madePoint({ replicas: 4, step: 104, comm: 4, allReduceMs: 4 }))).toBe('none');
  expect(kindOf(madePoint({ replicas: 4, step: 150, input: 48, comm: 2, allReduceMs: 2 }))).toBe('input');
  expect(kindOf(madePoint({ replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 85 }))).toBe('link');
  // All wait for a rank of another node: the all-reduce alone is quick.
  expect(kindOf(madePoint({ replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 3 }))).toBe('slowRank');
  // Rank 0 itself is slow.
  expect(kindOf(madePoint({ replicas: 4, hosts: 4, step: 180, comm: 2, allReduceMs: 2 }))).toBe('slowRank');
  // 320 images/s with 32 a batch, 900 with 128: 64% are lost.
  expect(
    kindOf(madePoint({ replicas: 2, step: 120, comm: 20, allReduceMs: 20 }), {
      batch: 128,
      imagesPerSec: 900,
    }),
  ).toBe('batch');
  expect(kindOf(madePoint({ replicas: 8, cores: 2, step: 400, comm: 60, allReduceMs: 30 }))).toBe('cores');
});

const ranksOf = (...computeMs: number[]): RankTimes[] =>
  computeMs.map((ms, rank) => ({
    ...{ rank, host: `gpu${rank + 1}`, device: 'cpu', computeMs: ms, inputMs: 0 },
    commMs: Math.max(...computeMs) - ms,
  }));

it('names the slow rank with its host, whichever it is, as soon as ranks say their times', () => {
  const other = { replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 3 };
  const third = findBottleneck([one, madePoint({ ...other, ranks: ranksOf(100, 100, 180, 101) })], same);
  expect(third?.kind).toBe('slowRank');
  expect(third?.words).toBe(
    'Rank 2 on gpu3 computes 80% longer than the median of the others, and all wait for it: 44% of a step with 4 replicas.',
  );
  expect(third?.advice).toContain('runs on gpu3');
  expect(third?.evidence).toContain(
    'Rank 2 on gpu3 computes for 180 ms a step, the others for 100 ms (medians).',
  );
  const first = { replicas: 4, hosts: 4, step: 180, comm: 2, allReduceMs: 2 };
  const zero = findBottleneck([one, madePoint({ ...first, ranks: ranksOf(178, 100, 100, 100) })], same);
  expect(zero?.words).toMatch(/^Rank 0 on gpu1 computes 78% longer than the median of the others/);
});

it('tells a slow rank from a slow link, though the all-reduce alone takes long as well', () => {
  // Beside a busy core an all-reduce alone is slow too: 80 ms here, as long as the waits of rank 0.
  const point = { replicas: 2, step: 180, comm: 80, allReduceMs: 80 };
  expect(kindOf(madePoint(point))).toBe('link');
  expect(kindOf(madePoint({ ...point, ranks: ranksOf(100, 178) }))).toBe('slowRank');
  expect(kindOf(madePoint({ ...point, ranks: ranksOf(100, 101) }))).toBe('link');
});

it('does not blame one rank where all are slow, or each in turn', () => {
  const grown = { replicas: 4, step: 150, comm: 1, allReduceMs: 1, ranks: ranksOf(149, 148, 149, 150) };
  expect(findBottleneck([one, madePoint(grown)], same)?.words).toMatch(
    /^All replicas compute longer than one/,
  );
  const turns = { replicas: 4, step: 150, comm: 50, allReduceMs: 1, ranks: ranksOf(100, 101, 99, 100) };
  expect(findBottleneck([one, madePoint(turns)], same)?.words).toMatch(
    /in turn, and none is always the slow/,
  );
});

it('names a rank that alone waits for its images', () => {
  const ranks = ranksOf(100, 100, 100, 100).map((times) => ({
    ...times,
    inputMs: times.rank === 1 ? 60 : 0.1,
  }));
  const point = madePoint({ replicas: 4, hosts: 4, step: 162, comm: 60, allReduceMs: 2, ranks });
  expect(findBottleneck([one, point], same)?.words).toMatch(
    /^Rank 1 on gpu2 waits for images 60 ms a step longer than the median of the others, and all wait for it/,
  );
});

it('knows that others wait for their images where one replica does', () => {
  const hungry = madePoint({ replicas: 1, step: 130, input: 120 });
  const two = madePoint({ replicas: 2, step: 140, input: 60, comm: 70, allReduceMs: 1 });
  expect(kindOf(two, null, hungry)).toBe('input');
  const uneven = ranksOf(10, 10).map((times) => ({ ...times, inputMs: times.rank === 0 ? 60 : 125 }));
  expect(kindOf({ ...two, ranks: uneven }, null, hungry)).toBe('input');
});

it('gives figures as evidence, and what would help', () => {
  const link = findBottleneck(
    [one, madePoint({ replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 85 })],
    same,
  );
  expect(link?.words).toBe('The link between the replicas holds them up: 44% of a step with 4 replicas.');
  expect(link?.evidence).toEqual([
    'A step takes 180 ms. Of it, 80.0 ms are waits for other replicas.',
    'An all-reduce of 1.00 MB alone takes 85.0 ms.',
  ]);
  expect(link?.advice).toContain('faster network');
});

it('speaks of no network where all replicas are on one machine', () => {
  for (const where of [{ hosts: 1 }, { hosts: 2, machines: 1 }]) {
    const point = madePoint({ replicas: 4, ...where, step: 180, comm: 80, allReduceMs: 85 });
    const found = findBottleneck([one, point], same);
    expect(found?.kind).toBe('link');
    expect(found?.words).toBe(
      'The exchange between the processes of the one machine holds them up: 44% of a step with 4 replicas.',
    );
    expect(found?.advice).not.toContain('network');
  }
});

it('sees slow input with one replica alone', () => {
  expect(findBottleneck([madePoint({ step: 200, input: 100 })], null)?.kind).toBe('input');
});

it('takes strong scaling where there is no weak one, and says nothing of no points', () => {
  const strong = [1, 4].map((replicas) =>
    madePoint({
      mode: 'strong',
      replicas,
      batch: 32 / replicas,
      step: replicas === 1 ? 100 : 60,
      comm: replicas === 1 ? 0 : 35,
      allReduceMs: 34,
    }),
  );
  expect(findBottleneck(strong, null)?.kind).toBe('link');
  expect(findBottleneck([], null)).toBeUndefined();
});

it('advises fewer replicas on a node only where a node has several', () => {
  const ranks = ranksOf(180, 180);
  const adviceOf = (more: Partial<ScalingPoint>): string | undefined =>
    findBottleneck(
      [one, madePoint({ replicas: 2, step: 180, comm: 0, allReduceMs: 1, ranks, ...more })],
      same,
    )?.advice;
  expect(adviceOf({ hosts: 1 })).toContain('Try fewer of them on a node');
  expect(adviceOf({ hosts: 2 })).toMatch(/^Each node has one replica/);
  expect(adviceOf({ hosts: 2, machines: 1 })).toMatch(/^The nodes are on one machine/);
});

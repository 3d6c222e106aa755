import { describe, expect, it } from 'vitest';
import { allReduceMsOf, figuresOf } from '../../../../src/core/scaling/fromLines.js';
import { allReduceSeconds } from '../../../../src/core/scaling/links.js';
import { idealOfNode, nextNode, withOneMore } from '../../../../src/core/scaling/nextNode.js';
import {
  plannedPoints,
  replicasOf,
  sharedBatch,
  slotsOf,
  usualReplicas,
} from '../../../../src/core/scaling/plan.js';
import { quantile } from '../../../../src/core/base/quantile.js';
import { scaledSeries, spreadOf } from '../../../../src/core/scaling/series.js';
import { stragglerFactor } from '../../../../src/core/scaling/stragglers.js';
import { hostLine, startLine, stepLine } from '../../support/lines.js';
import { exactly, madePoint } from './made.js';

describe('a series', () => {
  it('has median and quartiles', () => {
    // Sorted 1 2 3 4: the median is between 2 and 3, the quartiles are at places 0.75 and 2.25.
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('has speed-up, efficiency and shares, each mode for itself', () => {
    const points = [
      madePoint({ replicas: 4, step: 125, comm: 20, input: 5 }),
      madePoint({ replicas: 1 }),
      madePoint({ mode: 'strong', replicas: 2, batch: 16, step: 60 }),
    ];
    const [one, four] = scaledSeries(points, 'weak');
    expect(one).toMatchObject({ speedup: 1, efficiency: exactly(1) });
    // 1 replica: 32 / 0.1 s = 320 images/s; 4: 128 / 0.125 s = 1,024. 1,024 / 320 = 3.2, over 4: 0.8.
    expect(four?.speedup).toBeCloseTo(3.2, 9);
    expect(four?.efficiency.median).toBeCloseTo(0.8, 9);
    // 20 and 5 of 125 ms.
    expect(four?.shares.communication).toBeCloseTo(0.16, 9);
    expect(four?.shares.input).toBeCloseTo(0.04, 9);
    expect(four?.shares.compute).toBeCloseTo(0.8, 9);
    expect(scaledSeries(points, 'strong')).toHaveLength(1);
    expect(scaledSeries([], 'weak')).toEqual([]);
  });

  it('comes of the lines of a training, without the first steps', () => {
    const lines = Array.from({ length: 10 }, (_, at) => {
      const warm = at >= 2;
      return stepLine(at + 1, { step_ms: warm ? 50 : 900, images_per_sec: warm ? 640 : 1 });
    });
    const start = startLine({ batch_size: 16, parameters: 1000, world: 2 });
    expect(figuresOf(start, lines)).toMatchObject({
      batch: 16,
      gradientBytes: 4000,
      imagesPerSec: exactly(640),
      stepMs: exactly(50),
      // 5 and 1 of 50 ms.
      waits: { communication: 0.1, input: 0.02 },
      computeSamples: Array.from({ length: 8 }, () => 44),
    });
    expect(figuresOf(start, lines).ranks).toBeUndefined(); // files of older trainers
    const hosts = lines.flatMap(({ step }) =>
      [1, 0].map((rank) => {
        const compute = step <= 2 ? 900 : rank === 1 && step === 7 ? 300 : 40 + 10 * rank;
        return hostLine(step, rank, { compute_ms: compute, comm_ms: 9 - rank, input_wait_ms: 1 });
      }),
    );
    const alike = { device: 'cpu', inputMs: 1 };
    expect(figuresOf(start, lines, hosts).ranks).toEqual([
      { ...alike, rank: 0, host: 'gpu1', computeMs: 40, commMs: 9 },
      { ...alike, rank: 1, host: 'gpu2', computeMs: 50, commMs: 8 },
    ]);
    const central = { ...start, strategy: 'central-storage' };
    expect(figuresOf(central, lines, hosts).ranks).toHaveLength(1);
    expect(() => figuresOf(start, lines.slice(0, 3))).toThrow(/told of 3 steps, which are too few/);
    expect(() => figuresOf(undefined, lines)).toThrow(/too few/);
  });

  it('finds the milliseconds of an all-reduce of exactly these bytes', () => {
    const printed = [
      '{"bytes":400,"ms":1}',
      'noise',
      '{"all_reduce":"ring","bytes":4000,"comm":"mpi","ms":0.25}',
    ];
    expect(allReduceMsOf(printed, 4000)).toBe(0.25);
    expect(allReduceMsOf(printed, 40)).toBeNull();
  });
});

describe('an all-reduce', () => {
  const link = { alpha: 1e-3, beta: 1e-8 };
  const links = { inside: { alpha: 1e-5, beta: 1e-9 }, between: link };

  it('takes what alpha and beta say', () => {
    // Ring of 4 over hosts: 6 messages of 1/4 of 8 MB: 6 x (1 ms + 2e6 x 1e-8 s) = 6 x 21 ms.
    expect(allReduceSeconds('ring', { replicas: 4, hosts: 4 }, 8e6, links)).toBeCloseTo(0.126, 9);
    // Tree of 8: 2 x 3 levels x 1 ms + 2 x 8e6 x 1e-8 s.
    expect(allReduceSeconds('tree', { replicas: 8, hosts: 8 }, 8e6, links)).toBeCloseTo(0.166, 9);
    // 4 on each of 2 hosts: inside 6 x (10 us + 2e6 x 1e-9 s) = 12.06 ms; between 2 x (1 ms + 40 ms).
    expect(allReduceSeconds('hierarchical', { replicas: 8, hosts: 2 }, 8e6, links)).toBeCloseTo(0.09406, 9);
  });

  it('takes nothing for one replica', () => {
    for (const kind of ['ring', 'tree', 'hierarchical'] as const) {
      expect(allReduceSeconds(kind, { replicas: 1, hosts: 1 }, 8e6, links)).toBe(0);
    }
  });
});

it('waits for the longest of several draws', () => {
  // Of 10 and 20, each equally likely, the longer of two is 10 with 1/4 and 20 with 3/4: 17.5 over 15.
  expect(stragglerFactor([20, 10], 2)).toBeCloseTo(17.5 / 15, 9);
  expect(stragglerFactor([20, 10], 1)).toBeCloseTo(1, 9);
  expect(stragglerFactor([20, 10], 1000)).toBeCloseTo(20 / 15, 9);
  expect(stragglerFactor([], 8)).toBe(1);
});

it('says what one more node brings, in images/s and in money', () => {
  // 2 hosts with 4 replicas each, 7.20 an hour, 2,560 images/s; with a third one 3,600.
  const largest = madePoint({ replicas: 8, hosts: 2, perHour: 7.2 });
  expect(withOneMore(largest)).toEqual({ replicas: 12, hosts: 3 });
  const found = nextNode(largest, { replicas: 12, hosts: 3, imagesPerSec: 3600, low: 3500, high: 3700 });
  expect(found).toMatchObject({ moreImagesPerSec: 1040, low: 940, high: 1140 });
  expect(found.morePerHour).toBeCloseTo(3.6, 9);
  // 7.20 / 3,600 s = 0.002 a second over 2,560 images: 0.78125 a million; 10.80: 0.003 / 3,600.
  expect(found.millionNow).toBeCloseTo(0.78125, 9);
  expect(found.millionThen).toBeCloseTo(0.833333, 6);
});

it('says of one more node no more than a node that waits for no other makes', () => {
  // One replica makes 320 images/s, so a node with two of them at most 640.
  const series = scaledSeries([madePoint({}), madePoint({ replicas: 4, hosts: 2, step: 160 })], 'weak');
  const largest = series[1]?.point;
  expect(largest?.imagesPerSec.median).toBe(800);
  const far = { replicas: 6, hosts: 3, imagesPerSec: 2000, low: 1300, high: 3000 };
  expect(largest && nextNode(largest, far, idealOfNode(series))).toMatchObject({
    ...{ moreImagesPerSec: 640, low: 500, high: 640 },
  });
});

describe('the points of a measurement', () => {
  it('are of powers of two and of all', () => {
    expect(usualReplicas(1)).toEqual([1]);
    expect(usualReplicas(6)).toEqual([1, 2, 4, 6]);
    expect(usualReplicas(8)).toEqual([1, 2, 4, 8]);
    expect(replicasOf('4, 1,2,2')).toEqual([1, 2, 4]);
    for (const text of ['', '0', '1,,2', '-1', '1.5', 'two']) {
      expect(() => replicasOf(text)).toThrow(/must be numbers from 1/);
    }
    expect(
      plannedPoints([1, 2], ['weak', 'strong']).map(({ mode, replicas }) => `${mode} ${replicas}`),
    ).toEqual(['weak 1', 'weak 2', 'strong 1', 'strong 2']);
  });

  it('fill the slots of the profile', () => {
    expect(slotsOf({ name: 'local', kind: 'local' }, 6)).toBe(6);
    const hosts = [{ host: 'a', slots: 4 }, { host: 'b', gpus: [0, 1] }, { host: 'c' }];
    expect(slotsOf({ name: 'lab', kind: 'ssh', hosts }, 6)).toBe(7);
    expect(slotsOf({ name: 'lab', kind: 'ssh', hosts, maxNodes: 2 }, 6)).toBe(6);
  });

  it('share a batch evenly, or say that they cannot', () => {
    expect(sharedBatch(32, 1, 4)).toBe(8);
    expect(sharedBatch(32, 2, 4)).toBe(16);
    expect(() => sharedBatch(32, 1, 3)).toThrow(/batch of 32 cannot be shared evenly by 3 replicas/);
  });
});

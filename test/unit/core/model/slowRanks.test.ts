import { describe, expect, it } from 'vitest';
import type { HostLine } from '../../../../src/core/contracts/metricsSchema.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import {
  findSlowRanks,
  slowRanksName,
  slowRanksReason,
  type RankTimes,
} from '../../../../src/core/model/hosts/slowRanks.js';
import { hostLine, startLine } from '../../support/lines.js';

/** Of ranks that compute so long, in milliseconds; the others wait for the longest. */
const computing = (
  computeMs: number[],
  fields: (rank: number) => Partial<RankTimes> = () => ({}),
): RankTimes[] =>
  computeMs.map((ms, rank) => ({
    ...{ rank, host: 'here', device: 'cpu', computeMs: ms, inputMs: 0 },
    commMs: Math.max(...computeMs) - ms,
    ...fields(rank),
  }));
const words = (times: RankTimes[]): string | undefined => {
  const slow = findSlowRanks(times);
  return slow && `${slowRanksName(slow)} ${slowRanksReason(slow)}`;
};
/** Four to a host. */
const onHosts = (rank: number): Partial<RankTimes> => ({ host: `gpu${Math.floor(rank / 4) + 1}` });

describe('one look at the ranks', () => {
  it('finds the one for which the others wait, beside the median of the others', () => {
    expect(words(computing([50, 98]))).toBe(
      'rank 1 on here computes 96% longer than the median of the others',
    );
    expect(words(computing([80, 52, 50, 48]))).toBe(
      'rank 0 on here computes 60% longer than the median of the others',
    );
    const many = Array.from({ length: 256 }, (_, rank) => (rank === 200 ? 75 : 49 + (rank % 3)));
    expect(words(computing(many, onHosts))).toBe(
      'rank 200 on gpu51 computes 50% longer than the median of the others',
    );
  });

  it('finds nothing where ranks are alike, alone, or differ by what is not worth a word', () => {
    expect(words(computing([50]))).toBeUndefined();
    expect(words([])).toBeUndefined();
    expect(words(computing([50, 55, 60, 52]))).toBeUndefined();
    expect(words(computing([0.5, 1.2]))).toBeUndefined(); // less than a millisecond
    // 3 ms of a step of 100 ms, which goes by with other waits.
    expect(words(computing([5, 8], () => ({ commMs: 90 })))).toBeUndefined();
  });

  it('blames no rank where ranks share cores, evenly or not', () => {
    expect(words(computing([400, 410, 390, 405, 396, 402, 411, 399]))).toBeUndefined();
    expect(words(computing([50, 100, 100]))).toBeUndefined(); // 3 ranks on 2 cores
    expect(words(computing([100, 50, 50, 50, 100]))).toBeUndefined(); // 5 ranks on 4 cores
    expect(words(computing([60, 60, 60, 100, 100, 100, 100, 100]))).toBeUndefined(); // 8 ranks, 3 + 5
  });

  it('finds all ranks of a slow host, and GPUs of any host', () => {
    const host = Array.from({ length: 12 }, (_, rank) => (rank >= 8 ? 70 : 50));
    expect(words(computing(host, onHosts))).toBe(
      'ranks 8-11 on gpu3 compute 40% longer than the median of the others',
    );
    const two = Array.from({ length: 8 }, (_, rank) => (rank === 2 || rank === 5 ? 90 : 50));
    expect(words(computing(two, onHosts))).toBeUndefined();
    expect(words(computing(two, (rank) => ({ ...onHosts(rank), device: 'cuda' })))).toBe(
      'ranks 2, 5 on gpu1, gpu2 compute 80% longer than the median of the others',
    );
  });

  it('says that it is the images for which a rank waits', () => {
    const waiting = (inputMs: number[]): RankTimes[] =>
      computing(inputMs.map(() => 20)).map((times, rank) => ({ ...times, inputMs: inputMs[rank] ?? 0 }));
    expect(words(waiting([10, 10, 40]))).toBe(
      'rank 2 on here waits for images 300% longer than the median of the others',
    );
    expect(words(waiting([0.1, 41.1]))).toBe(
      'rank 1 on here waits for images 41 ms a step longer than the median of the others',
    );
  });
});

describe('many looks', () => {
  /** Lines of two ranks; rank 1 is slow in some intervals. A line each `every` seconds. */
  const lines = (slow: string, every = 2, fields: Partial<HostLine> = {}): HostLine[] =>
    Array.from(slow).flatMap((mark, at) =>
      [0, 1].map((rank) =>
        hostLine(10 * (at + 1), rank, {
          time: 1000 + every * at,
          ...{ compute_ms: rank === 1 && mark === 'x' ? 90 : 50, comm_ms: 1, input_wait_ms: 0 },
          ...fields,
        }),
      ),
    );
  const read = (all: HostLine[], start = startLine({ world: 2 })): RunMetrics['slowRanks'] => {
    const metrics = new RunMetrics();
    for (const line of [start, ...all]) metrics.add(line);
    return metrics.slowRanks;
  };

  it('say nothing of a slow interval, or of several with good ones between', () => {
    expect(read(lines('..x..')).now).toBeUndefined();
    expect(read(lines('.xx.xxx.xx..xxx.')).now).toBeUndefined();
    // The first look is at two intervals, since nobody knows when the first one began.
    expect(read(lines('.xxxx')).now).toBeUndefined();
    expect(read(lines('..xxxxx')).now?.ranks).toEqual([1]);
  });

  it('look at seconds, however short the intervals', () => {
    expect(read(lines('x'.repeat(40), 0.1)).now).toBeUndefined();
    expect(read(lines('x'.repeat(60), 0.1)).now?.ranks).toEqual([1]);
    // Most intervals of each second are slow.
    expect(read(lines('xxx.x.xxxx'.repeat(6), 0.1)).now?.ranks).toEqual([1]);
  });

  it('end it after three good ones, and say since when', () => {
    expect(read(lines('..xxxxxx..')).now?.ranks).toEqual([1]);
    const over = read(lines('..xxxxxx...'));
    expect(over.now).toBeUndefined();
    expect(over.over).toMatchObject({ slow: { ranks: [1] }, time: 1000 + 2 * 10 });
    expect(read(lines('..xxxxxx...xxxxx')).now?.ranks).toEqual([1]);
    expect(read(lines('..xxxxxx...xxxxx')).over).toBeUndefined();
  });

  it('judge an interval of which a line is missing when the next one comes', () => {
    const torn = lines('..xxxxxxx').filter((_, index) => index !== 9);
    expect(read(torn).now).toBeUndefined(); // rank 0 alone was heard
    expect(read(lines('..xxxxxx'), startLine({ world: 3 })).now?.ranks).toEqual([1]);
  });

  it('begin anew with a generation, which may have fewer ranks', () => {
    const metrics = new RunMetrics();
    for (const line of [startLine({ world: 2 }), ...lines('..xxxxxx')]) metrics.add(line);
    expect(metrics.slowRanks.now?.ranks).toEqual([1]);
    metrics.add(startLine({ world: 1, generation: 2, resumed_from: 'step-00000020' }));
    expect(metrics.slowRanks.now).toBeUndefined();
    // What is left of the older generation counts no more.
    for (const line of lines('xxxxxxxx')) metrics.add(line);
    expect(metrics.slowRanks.now).toBeUndefined();
    const alone = lines('xxxxxxxx', 2, { generation: 2 }).filter(({ rank }) => rank === 0);
    for (const line of alone) metrics.add(line);
    expect(metrics.slowRanks.now).toBeUndefined();
  });

  it('say nothing of files of older trainers, nor of rank 0 of central storage, which makes the updates', () => {
    const old = Array.from({ length: 9 }, (_, at) => [0, 1].map((rank) => hostLine(at, rank))).flat();
    expect(read(old).now).toBeUndefined();
    const first = lines('xxxxxxxx').map((line) => ({ ...line, rank: 1 - line.rank }));
    expect(read(first).now?.ranks).toEqual([0]);
    expect(read(first, startLine({ world: 2, strategy: 'central-storage' })).now).toBeUndefined();
  });

  it('are of bounded memory', () => {
    const metrics = new RunMetrics();
    metrics.add(startLine({ world: 2 }));
    for (const line of lines('x'.repeat(5 * 64 + 1), 0.001)) metrics.add(line);
    // 64 intervals are a look, though they are no second.
    expect(metrics.slowRanks.now?.ranks).toEqual([1]);
  });
});

// What is kept of runs while nothing is connected: small, and believed only where it is whole.
import { describe, expect, it } from 'vitest';
import { lastSeenOf, parseLastSeen, wasActive, type LastSeen } from '../../../../src/core/follow/lastSeen.js';
import { listedRun } from '../../support/listedRun.js';

const seen = 1_795_000_000;
const kept = (runs: Parameters<typeof listedRun>[]): LastSeen | undefined =>
  lastSeenOf({ profile: 'lab', runs: runs.map((run) => listedRun(...run)), problem: undefined, seen });

describe('what is kept of a look', () => {
  it('is what the list says of each run, as JSON can hold it', () => {
    const last = kept([
      ['20261121-104500-resnet20-1f2e', 'running', { fraction: 0.34, best: { step: 5, top1: 0.741 } }],
      ['20261120-104500-mlp-0a0b', 'finished', { health: { level: 'good', kind: 'over', text: 'finished' } }],
    ]);
    expect(last).toEqual({
      version: 1,
      at: seen,
      runs: [
        {
          id: '20261121-104500-resnet20-1f2e',
          dir: '/w/runs/20261121-104500-resnet20-1f2e',
          name: 'resnet20-1f2e',
          status: 'running',
          health: 'healthy',
          fraction: 0.34,
          top1: 0.741,
        },
        {
          id: '20261120-104500-mlp-0a0b',
          dir: '/w/runs/20261120-104500-mlp-0a0b',
          name: 'mlp-0a0b',
          status: 'finished',
          health: 'finished',
        },
      ],
    });
    expect(parseLastSeen(JSON.parse(JSON.stringify(last)))).toEqual(last);
    expect(last?.runs.map(wasActive)).toEqual([true, false]);
  });

  it('is nothing before the first look', () => {
    expect(lastSeenOf({ profile: 'lab', runs: [], problem: undefined })).toBeUndefined();
    expect(kept([])).toEqual({ version: 1, at: seen, runs: [] });
  });

  it('is bounded: runs under way stay, the oldest that are over go first', () => {
    const over = Array.from({ length: 40 }, (_, at) => [`${String(99 - at)}-over`, 'finished'] as const);
    const many = kept([
      ...over.map(([id, status]) => [id, status] as [string, 'finished']),
      ['01-old', 'running'],
    ]);
    expect(many?.runs).toHaveLength(20);
    expect(many?.runs.at(-1)?.id).toBe('01-old');
    expect(many?.runs[0]?.id).toBe('99-over');

    const text = 'x'.repeat(5000);
    const long = Array.from({ length: 20 }, (_, at): [string, 'failed', object] => [
      `${String(99 - at)}-${'y'.repeat(400)}`,
      'failed',
      { health: { level: 'error', kind: 'over', text } },
    ]);
    const small = kept(long);
    expect(Buffer.byteLength(JSON.stringify(small))).toBeLessThanOrEqual(8192);
    expect(small?.runs.length).toBeGreaterThan(3);
    expect(small?.runs[0]?.id).toMatch(/^99-/);
    expect(small?.runs[0]?.health).toHaveLength(160);
  });
});

it('a damaged value is no value', () => {
  const good = kept([['1-a', 'running', { fraction: 0.5 }]]);
  const [run] = good?.runs ?? [];
  const damaged = [
    undefined,
    null,
    'text',
    [],
    {},
    { ...good, version: 2 },
    { ...good, at: 'yesterday' },
    { ...good, at: Number.NaN },
    { ...good, runs: 'none' },
    { ...good, runs: [null] },
    { ...good, runs: Array.from({ length: 21 }, () => run) },
    ...[{ id: '' }, { dir: 'relative' }, { name: 7 }, { status: 'dancing' }, { status: 'toString' }].map(
      (wrong) => ({
        ...good,
        runs: [{ ...run, ...wrong }],
      }),
    ),
    ...[
      ...[{ health: null }, { fraction: 2 }, { top1: '1' }, { ended: -1 }],
      ...[{ report: 'scaling' }, { report: { kind: 'other' } }, { report: { kind: 'scaling', begun: '5' } }],
    ].map((wrong) => ({
      ...good,
      runs: [{ ...run, ...wrong }],
    })),
  ];
  for (const value of damaged) expect(parseLastSeen(value), JSON.stringify(value)).toBeUndefined();
});

// The bounded tables behind the dashboard, and what a receiver is sent of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostTable } from '../../../../src/core/model/hosts/hostTable.js';
import { RankTable } from '../../../../src/core/model/hosts/rankTable.js';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import { GrowingList, type Cursor, type Slice } from '../../../../src/core/streams/slices.js';
import { StepTable, type StepColumns } from '../../../../src/core/model/series/stepTable.js';
import { hostLine, stepLine } from '../../support/lines.js';

/** What a receiver does with slices: rows before `from` stand, the rest is replaced. */
function apply<T extends object>(held: T | undefined, { from, rows }: Slice<T>): T {
  const merged: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(rows)) {
    const before: unknown = (held as Record<string, unknown> | undefined)?.[name];
    merged[name] = Array.isArray(values)
      ? [...(Array.isArray(before) ? (before as unknown[]).slice(0, from) : []), ...(values as unknown[])]
      : values;
  }
  return merged as T;
}

describe('StepTable', () => {
  it('keeps every line while there is room, and bounds and means when there is not', () => {
    const table = new StepTable(8);
    for (let step = 1; step <= 1000; step++) {
      table.push(stepLine(step, { loss: step % 7, images_per_sec: 100 + (step % 11) }));
    }
    const { rows } = table.slice();
    expect(table.length).toBeLessThanOrEqual(8);
    expect(rows.step.at(-1)).toBe(1000);
    expect(Math.min(...rows.lossMin.map(Number))).toBe(0);
    expect(Math.max(...rows.lossMax.map(Number))).toBe(6);
    expect(Math.min(...rows.imagesPerSecMin)).toBe(100);
    expect(Math.max(...rows.imagesPerSecMax)).toBe(110);
    const mean = rows.imagesPerSec.reduce((sum, value) => sum + value, 0) / rows.imagesPerSec.length;
    expect(mean).toBeCloseTo(105, 0);
  });

  it('passes over a loss that is no number, and keeps the rest of the line', () => {
    const table = new StepTable(2);
    for (const loss of [null, 2, null, 4]) table.push(stepLine(1, { loss }));
    expect(table.slice().rows.lossMax).toEqual([2, 4]);
    const diverged = new StepTable();
    diverged.push(stepLine(1, { loss: null }));
    expect(diverged.slice().rows).toMatchObject({ loss: [null], imagesPerSec: [640] });
  });

  it('knows when a step was made', () => {
    const table = new StepTable();
    for (const step of [10, 20, 30]) table.push(stepLine(step, { time: step * 2 }));
    expect(table.timeOf(10)).toBe(20);
    expect(table.timeOf(15)).toBe(40);
    expect(table.timeOf(31)).toBeUndefined();
    expect(table.medianImagesPerSec()).toBe(640);
  });

  it('whatever happens, a receiver of slices holds what the table holds', () => {
    const act = fc.oneof(
      { weight: 8, arbitrary: fc.constant('push' as const) },
      { weight: 3, arbitrary: fc.constant('send' as const) },
      { weight: 1, arbitrary: fc.nat(40).map((back) => ({ back })) },
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), fc.integer({ min: 2, max: 12 }), (acts, capacity) => {
        const table = new StepTable(capacity);
        let held: StepColumns | undefined;
        let cursor: Cursor | undefined;
        let step = 0;
        const send = (): void => {
          held = apply(held, table.slice(cursor));
          cursor = table.cursor();
        };
        for (const each of acts) {
          if (each === 'push') table.push(stepLine(++step, { loss: step % 5 }));
          else if (each === 'send') send();
          else {
            step = Math.max(0, step - each.back);
            table.truncate(step + 1);
          }
        }
        send();
        expect(held).toEqual(table.slice().rows);
      }),
    );
  });
});

const sample = (time: number, used: number, uuid = 'u0'): HostSample => ({
  time,
  host: 'h',
  cpu_percent: time % 100,
  memory_used: used,
  memory_total: 100,
  disk_free: 7,
  gpus: [
    {
      index: 0,
      uuid,
      name: 'GPU',
      memory_used: used,
      memory_total: 80,
      utilization: time % 2 === 0 ? null : 50,
      temperature: 40,
      power_watts: null,
      processes: [{ pid: 4, memory_used: 3 }],
    },
  ],
});

describe('HostTable', () => {
  it('thins what is old and never loses the highest use of memory', () => {
    const table = new HostTable('h', 16);
    for (let time = 0; time < 500; time++) table.push(sample(time, time === 123 ? 77 : 5));
    const rows = table.slice()?.rows;
    expect(rows?.time.length).toBeLessThanOrEqual(16);
    expect(Math.max(...(rows?.gpus[0]?.used.map(Number) ?? []))).toBe(77);
    expect(rows?.time.slice(-4)).toEqual([496, 497, 498, 499]);
    expect(rows?.gpus[0]?.used.length).toBe(rows?.time.length);
  });

  it('sends only what is new, and begins anew with other GPUs', () => {
    const table = new HostTable('h');
    expect(table.slice()).toBeUndefined();
    table.push(sample(1, 5));
    let cursor = table.cursor();
    expect(table.slice(cursor)).toBeUndefined();
    table.push(sample(2, 6));
    expect(table.slice(cursor)).toMatchObject({ from: 0, rows: { time: [1, 2] } });
    cursor = table.cursor();
    table.push(sample(3, 7, 'other'));
    expect(table.slice(cursor)).toMatchObject({ from: 0, rows: { time: [3], gpus: [{ uuid: 'other' }] } });
  });
});

it('RankTable is bounded, and its peak is what the rank said', () => {
  const table = new RankTable(8);
  for (let time = 0; time < 100; time++) {
    table.push(hostLine(time, 1, { time, memory_used: time === 50 ? 9 : 3, memory_peak: 9 }));
  }
  const rows = table.slice()?.rows;
  expect(rows?.time.length).toBeLessThanOrEqual(8);
  expect(rows?.peak).toBe(9);
  expect(rows?.used).toContain(9);
  expect(table.slice(table.cursor())).toBeUndefined();
});

it('RankTable has the newest figures of steps, and none where a rank says none', () => {
  const table = new RankTable(8);
  table.push(hostLine(1, 1, { compute_ms: 41.5, comm_ms: 3, input_wait_ms: 0.25 }));
  table.push(hostLine(2, 1, { compute_ms: 40, comm_ms: 5, input_wait_ms: 0.5 }));
  expect(table.slice()?.rows.times).toEqual({ compute: 40, comm: 5, input: 0.5 });
  table.push(hostLine(3, 1));
  expect(table.slice()?.rows.times).toBeNull();
});

it('GrowingList sends what was appended, and all of it after a change', () => {
  const list = new GrowingList<number>(8);
  for (let value = 0; value < 5; value++) list.push(value);
  const cursor = list.cursor();
  list.push(5);
  expect(list.slice(cursor)).toEqual({ from: 5, rows: [5] });
  for (let value = 6; value < 12; value++) list.push(value);
  expect(list.all.length).toBeLessThanOrEqual(8);
  expect(list.slice(cursor)).toEqual({ from: 0, rows: list.all });
  expect(list.all.at(-1)).toBe(11);
});

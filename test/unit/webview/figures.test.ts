import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  axisTime,
  bytes,
  bytesOf,
  duration,
  elapsed,
  milliseconds,
  percent,
  plural,
  rate,
  significant,
} from '../../../src/webview/dashboard/model/format.js';
import { between, lastAtMost, lastBefore } from '../../../src/webview/dashboard/elements/sampling.js';
import { emptyAverage, smooth } from '../../../src/webview/dashboard/charts/smoothing.js';

describe('figures', () => {
  it.each([
    [rate(11204.4), '11,204'],
    [rate(42.25), '42.3'],
    [rate(0.5), '0.50'],
    [rate(null), '–'],
    [percent(0.741), '74.1%'],
    [percent(Number.NaN), '–'],
    [bytes(61.2e9), '61.2 GB'],
    [bytes(999.6e6), '1.0 GB'],
    [bytes(512), '512 B'],
    [bytesOf(3.1e9, 23.5e9), '3.1/23.5 GB'],
    [bytesOf(0.2e12, 1.1e12), '0.2/1.1 TB'],
    [bytesOf(null, 23.5e9), '–/23.5 GB'],
    [duration(8.2), '8 s'],
    [duration(240), '4 min'],
    [duration(3599), '1 h'],
    [duration(11400), '3 h 10 min'],
    [duration(9 * 3600 + 600), '9 h'],
    [duration(23 * 3600 + 3000), '1 d'],
    [duration(51 * 3600), '2 d 3 h'],
    [elapsed(3727), '1:02:07'],
    [elapsed(59.6), '1:00'],
    [axisTime(0, 60, [0, 300]), '0'],
    [axisTime(30, 10, [0, 40]), '30 s'],
    [axisTime(0.4, 0.2, [0, 1]), '0.4 s'],
    [axisTime(61.2, 0.2, [60, 63]), '1:01.2'],
    // Two charts of one range, a wide and a narrow one.
    [axisTime(60, 30, [0, 346]), '1:00'],
    [axisTime(60, 60, [0, 346]), '1:00'],
    [axisTime(30, 30, [0, 346]), '0:30'],
    [axisTime(600, 300, [0, 3000]), '10 min'],
    [axisTime(7200, 1800, [0, 9000]), '2 h'],
    [axisTime(5400, 1800, [0, 9000]), '1:30 h'],
    [axisTime(172_800, 86_400, [0, 864_000]), '2 d'],
    [significant(1.23456), '1.235'],
    [significant(0.00012345, 3), '1.2e-4'],
    [significant(0), '0'],
    [milliseconds(12.34), '12.3 ms'],
    [milliseconds(1204), '1.20 s'],
    [plural(1, 'restart'), '1 restart'],
    [plural(31, 'checkpoint'), '31 checkpoints'],
  ])('%s', (shown, expected) => {
    expect(shown).toBe(expected);
  });
});

describe('smoothing', () => {
  it('leaves a constant as it is, from the first value on', () => {
    const average = emptyAverage();
    smooth(average, [3, 3, 3, 3], 0.9, 0);
    for (const value of average.values) expect(value).toBeCloseTo(3, 10);
  });

  it('is the same whether rows come at once or one after the other', () => {
    const values = fc.array(fc.option(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { nil: null }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(values, fc.nat(40), (raw, cut) => {
        const whole = emptyAverage();
        smooth(whole, raw, 0.6, 0);
        const parts = emptyAverage();
        smooth(parts, raw.slice(0, cut), 0.6, 0);
        smooth(parts, raw, 0.6, Math.min(cut, raw.length));
        expect(parts).toEqual(whole);
      }),
    );
  });

  it('has a hole where a value is missing, and goes on behind it', () => {
    const average = emptyAverage();
    smooth(average, [null, 2, null, 4], 0.5, 0);
    expect(average.values).toEqual([null, 2, null, expect.closeTo(10 / 3, 10)]);
  });

  it('without smoothing is the raw line', () => {
    const average = emptyAverage();
    smooth(average, [5, 1, 9], 0, 0);
    expect(average.values).toEqual([5, 1, 9]);
  });
});

describe('rows of a rising column', () => {
  it('finds the last value that is not too large', () => {
    expect(lastAtMost([1, 2, 2, 5], 2)).toBe(2);
    expect(lastAtMost([1, 2], 0)).toBe(-1);
    expect(lastAtMost([1, 2], Infinity)).toBe(1);
  });

  it('finds the last value that is smaller', () => {
    expect(lastBefore([1, 2, 2, 5], 2)).toBe(0);
    expect(lastBefore([1, 2], 9)).toBe(1);
    expect(lastBefore([1], 1)).toBe(-1);
  });

  it('finds a value of another column between two rows', () => {
    expect(between([10, 20, 40], [1, 2, 4], 30)).toBe(3);
    expect(between([10, 20], [1, 2], 20)).toBe(2);
    expect([between([10, 20], [1, 2], 0), between([10, 20], [1, 2], 90)]).toEqual([1, 2]);
    expect(between([], [], 3)).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { lastSegment, ProgressBars } from '../../../../src/core/streams/progressBars.js';
import { ByteTail } from '../../../../src/core/streams/tail.js';

describe('lastSegment', () => {
  it.each([
    ['no bar', 'no bar'],
    ['windows\r', 'windows'],
    ['\r0/3\r1/3\r2/3', '2/3'],
    ['0/3\r1/3\r\r', '1/3'],
    ['', ''],
    ['\r', ''],
  ])('%j', (line, last) => {
    expect(lastSegment(line)).toBe(last);
  });
});

it('gives the state of a bar at once, then as often as it may, and the last one once', () => {
  const seen: string[] = [];
  const bars = new ProgressBars((text) => seen.push(text), 100);
  bars.unfinished('0/9', 1000);
  bars.unfinished('1/9', 1050);
  bars.unfinished('1/9', 1150);
  bars.unfinished('1/9', 1300);
  bars.line('\r0/9\r1/9\r2/9');
  bars.unfinished('0/5', 1320);
  bars.line('\r0/5');
  bars.line('\r     \r'); // a bar that took itself away
  bars.line('');
  expect(seen).toEqual(['0/9', '1/9', '2/9', '0/5', '']);
});

describe('a tail of a log with a progress bar', () => {
  it('knows the newest segment of a line that has not ended', () => {
    const tail = new ByteTail();
    tail.push(0, Buffer.from('a line\nhalf'));
    expect(tail.newestSegment).toBeUndefined();
    tail.push(tail.received, Buffer.from('\r1/3\r2/'));
    tail.push(tail.received, Buffer.from('3\r  '));
    expect(tail.newestSegment).toBe('2/3');
    expect(tail.push(tail.received, Buffer.from('\n'))).toHaveLength(1);
    expect(tail.newestSegment).toBeUndefined();
  });

  it('keeps the end of a bar that was written for so long that its line has no room', () => {
    const tail = new ByteTail();
    const piece = Buffer.from(`${'\rhalf of it'.repeat(100_000)}\r`);
    for (let turn = 0; turn < 10; turn++) tail.push(tail.received, piece);
    const [line] = tail.push(tail.received, Buffer.from('done\n')) ?? [];
    expect(lastSegment(line?.text ?? '')).toBe('done');
    expect(line?.offset).toBe(0);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogTimes, TimedLog, TimedLogs } from '../../../../src/core/follow/logTimes.js';

describe('times of a log', () => {
  it('gives a byte the time of the first look that saw it', () => {
    const times = new LogTimes();
    for (const line of ['[10,1000]', '[25,2500]']) times.take(line);
    expect([0, 9, 10, 24].map((offset) => times.of(offset))).toEqual([1, 1, 2.5, 2.5]);
    expect(times.of(25)).toBeUndefined();
  });

  it('leaves out torn lines and sizes that do not grow', () => {
    const times = new LogTimes();
    for (const line of ['[10,1000]', '[2', '5,9]', '[10,9000]', '{}', '[30,3000]']) times.take(line);
    expect([0, 10].map((offset) => times.of(offset))).toEqual([1, 3]);
  });

  it('says that nobody knows: of a log older than its times, and before the part that was read', () => {
    const old = new LogTimes();
    for (const line of ['[10,0]', '[20,2000]']) old.take(line);
    expect([5, 15].map((offset) => old.of(offset))).toEqual([null, 2]);
    const tail = new LogTimes(false);
    for (const line of ['[10,1000]', '[20,2000]']) tail.take(line);
    expect([5, 15].map((offset) => tail.of(offset))).toEqual([null, 2]);
  });
});

describe('a followed log with times', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const made = (): { log: TimedLog; seen: [string, number | null][] } => {
    const seen: [string, number | null][] = [];
    const log = new TimedLog(({ text }, time) => seen.push([text, time]));
    return { log, seen };
  };

  it('holds a line until its time is there, in order', () => {
    const { log, seen } = made();
    log.takeLine({ offset: 0, text: 'one' });
    log.takeLine({ offset: 4, text: 'two' });
    expect(seen).toEqual([]);
    log.takeTime('[4,1000]');
    expect(seen).toEqual([['one', 1]]);
    log.takeTime('[8,2000]');
    expect(seen).toEqual([
      ['one', 1],
      ['two', 2],
    ]);
  });

  it('gives a line whose time does not come, and what waits at the end', () => {
    const { log, seen } = made();
    log.takeLine({ offset: 0, text: 'one' });
    vi.advanceTimersByTime(2000);
    expect(seen).toEqual([['one', null]]);
    log.takeLine({ offset: 4, text: 'two' });
    log.dispose();
    expect(seen).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives lines of a run without times at once, and makes a file once', () => {
    const logs = new TimedLogs();
    const seen: (number | null)[] = [];
    const files = logs.files('logs/rank-0.log', 0, { 'logs/rank-0.log': 8 }, (_, time) => seen.push(time));
    expect(files.map(({ name }) => name)).toEqual(['logs/rank-0.log']);
    files[0]?.onLine({ offset: 0, text: 'one' });
    expect(seen).toEqual([null]);
    expect(logs.files('logs/rank-0.log', 0, {}, () => undefined)).toBe(files);
    const sizes = { 'logs/rank-1.log': 8, 'logs/rank-1.times': 90 };
    expect(logs.files('logs/rank-1.log', 0, sizes, () => undefined).map(({ name }) => name)).toEqual([
      'logs/rank-1.times',
      'logs/rank-1.log',
    ]);
    logs.dispose();
  });
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Throttle } from '../../../src/ui/throttle.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('acts at once, then at most once an interval, and never forgets the last time', () => {
  let interval = 100;
  const times: number[] = [];
  const began = Date.now();
  const throttle = new Throttle(
    () => times.push(Date.now() - began),
    () => interval,
  );
  for (let time = 0; time < 250; time += 10) {
    throttle.poke();
    vi.advanceTimersByTime(10);
  }
  expect(times).toEqual([0, 100, 200]);
  vi.advanceTimersByTime(1000);
  expect(times).toEqual([0, 100, 200, 300]);
  interval = 400;
  throttle.poke();
  throttle.poke();
  vi.advanceTimersByTime(399);
  expect(times).toHaveLength(5);
  throttle.dispose();
  vi.advanceTimersByTime(1000);
  expect(times).toHaveLength(5);
});

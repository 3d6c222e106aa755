// An own program's reports in the terminal: one line a report.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FigureReports, reportText } from '../../../src/cli/figureReports.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const line = (tag: string, step: number, value: number | null, writer = '') => ({
  tag,
  step,
  value,
  writer,
  time: 1000,
  generation: 1,
  source: 'metrics.jsonl',
});

it('names what says most first, and few', () => {
  const figures = new Map<string, number | null>(
    ['a', 'b', 'c', 'd', 'e', 'images/s', 'z/loss'].map((tag) => [tag, 1]),
  );
  expect(reportText(7, 'rank 0', figures)).toBe(
    'step 7  rank 0  z/loss 1  images/s 1  a 1  b 1  c 1  d 1  1 more',
  );
});

it('puts the figures of a step together', () => {
  const printed: string[] = [];
  const reports = new FigureReports((text) => printed.push(text));
  reports.add(line('loss', 1, 0.123456));
  reports.add(line('loss', 2, null));
  reports.add(line('acc', 1, 0.5));
  expect(printed).toEqual([]);
  vi.advanceTimersByTime(400);
  expect(printed).toEqual(['step 1  loss 0.12346  acc 0.5', 'step 2  loss NaN/inf']);
});

it('counts what came in a crowd, and prints the newest', () => {
  const printed: string[] = [];
  const reports = new FigureReports((text) => printed.push(text));
  for (let step = 1; step <= 100; step++) reports.add(line('loss', step, 1));
  reports.flush();
  expect(printed).toHaveLength(11);
  expect(printed[0]).toBe('90 older reports');
  expect(printed.at(-1)).toBe('step 100  loss 1');
});

// How the suites of real servers, trainers and editors share two cores: their tests mostly wait, so
// several files run at a time. Files that measure, or that write what the others read, run alone
// afterwards.
import type { TestProjectConfiguration } from 'vitest/config';

export const together = (include: string, alone: string[], workers: number): TestProjectConfiguration[] => [
  {
    extends: true,
    test: {
      name: 'together',
      include: [include],
      exclude: alone,
      maxWorkers: workers,
      sequence: { groupOrder: 0 },
    },
  },
  {
    extends: true,
    test: { name: 'alone', include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
  },
];

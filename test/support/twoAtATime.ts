// How the suites of real servers and real editors share two cores: their tests mostly wait, so two
// files run at a time. Files that measure, or that write what the others read, run alone afterwards.
import type { TestProjectConfiguration } from 'vitest/config';

export const twoAtATime = (include: string, alone: string[]): TestProjectConfiguration[] => [
  {
    extends: true,
    test: {
      name: 'together',
      include: [include],
      exclude: alone,
      maxWorkers: 2,
      sequence: { groupOrder: 0 },
    },
  },
  {
    extends: true,
    test: { name: 'alone', include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
  },
];

import { defineConfig } from 'vitest/config';
import { together } from '../support/together.mjs';

const all = 'test/local/**/*.test.ts';
/** They compare rates, or take all cores for long. */
const alone = [
  'test/local/runs/scaling.test.ts',
  'test/local/runs/slowRank.test.ts',
  'test/local/trainer/bench.test.ts',
];

// Real trainers on two cores. The tests wait for two thirds of their time, so three files run at
// a time. Each file has folders and runs of its own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts', 'test/support/endlessYield.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: together(all, alone, 3),
  },
});

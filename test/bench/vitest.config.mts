import { defineConfig } from 'vitest/config';

// Benchmarks that need the editor's tests: `npm run bench:hover`.
export default defineConfig({
  test: {
    include: ['test/bench/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 10 * 60_000,
    hookTimeout: 3 * 60_000,
  },
});

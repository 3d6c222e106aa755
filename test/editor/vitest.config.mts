import { defineConfig } from 'vitest/config';

// Whole editors on two cores: one file at a time.
export default defineConfig({
  test: {
    include: ['test/editor/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});

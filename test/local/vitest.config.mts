import { defineConfig } from 'vitest/config';

// Real trainers on two cores: one file at a time, so that no test slows another.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/local/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});

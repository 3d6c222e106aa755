import { defineConfig } from 'vitest/config';

// Real trainers and a real MLflow on two cores: one file at a time.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/trackers/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});

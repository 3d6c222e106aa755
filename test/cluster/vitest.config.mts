import { defineConfig } from 'vitest/config';

// Real clusters on two cores: one file at a time, so that no test slows another.
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});

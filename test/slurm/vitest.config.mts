import { defineConfig } from 'vitest/config';

// One real Slurm at a time.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/slurm/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

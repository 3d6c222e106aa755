import { defineConfig } from 'vitest/config';

// Two files at a time, since jobs mostly wait. Each file has a real Slurm of its own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts', 'test/support/endlessYield.ts'],
    include: ['test/slurm/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

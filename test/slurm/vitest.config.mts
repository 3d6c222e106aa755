import { defineConfig } from 'vitest/config';

// A real Slurm each, two at a time: jobs mostly wait. Ports, folders and processes are of their own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/slurm/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

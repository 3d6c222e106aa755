import { defineConfig } from 'vitest/config';

// Real clusters on two cores. The tests mostly wait, so three files run at a time. Each file
// has hosts, homes, ports and locks of its own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts', 'test/support/endlessYield.ts'],
    include: ['test/cluster/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});

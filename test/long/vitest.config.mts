import { defineConfig } from 'vitest/config';

// What takes a minute or more by itself. It is not part of CI. Each file loads the machine,
// compares rates or writes dist, so one file runs at a time.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/long/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    fileParallelism: false,
    testTimeout: 400_000,
    hookTimeout: 400_000,
  },
});

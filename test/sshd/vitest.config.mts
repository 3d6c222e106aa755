import { defineConfig } from 'vitest/config';

// Real servers on two cores: one file at a time, so that no test slows another.
export default defineConfig({
  test: {
    include: ['test/sshd/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});

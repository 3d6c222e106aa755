import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    restoreMocks: true,
    testTimeout: 20_000,
    maxWorkers: '100%', // Vitest leaves one core idle, which is half of the smallest machine
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    restoreMocks: true,
    testTimeout: 20_000,
  },
});

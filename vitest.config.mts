import { defineConfig } from 'vitest/config';

/** These put a stand-in for the editor's API in the place of the module `vscode`. */
const ofEditor = 'test/unit/ui/**/*.test.ts';

export default defineConfig({
  test: {
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    restoreMocks: true,
    testTimeout: 20_000,
    maxWorkers: '100%', // Vitest leaves one core idle, which is half of the smallest machine
    projects: [
      { extends: true, test: { name: 'ui', include: [ofEditor] } },
      // Files share a process and its modules, which are loaded once: half of the time.
      {
        extends: true,
        test: { name: 'plain', include: ['test/unit/**/*.test.ts'], exclude: [ofEditor], isolate: false },
      },
    ],
  },
});

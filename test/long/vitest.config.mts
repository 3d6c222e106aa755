import { defineConfig } from 'vitest/config';

// What takes minutes by itself: the proof for GPUs, rehearsed, the packages of every platform, and
// every entry of every menu. Each loads the machine or writes dist, so one file at a time.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: ['test/long/**/*.test.ts', 'test/editor/menus.test.ts'],
    fileParallelism: false,
    testTimeout: 400_000,
    hookTimeout: 400_000,
  },
});

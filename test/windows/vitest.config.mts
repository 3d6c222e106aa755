import { defineConfig } from 'vitest/config';

// One cluster and one Wine at a time. A Wine program takes a second to start on two cores, and more
// beside others.
export default defineConfig({
  test: {
    include: ['test/windows/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});

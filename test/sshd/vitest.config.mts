import { defineConfig } from 'vitest/config';

const all = 'test/sshd/**/*.test.ts';
/** One says how long 32 hosts take, the other which node computes more slowly than the others. */
const alone = ['test/sshd/runs/manyHosts.test.ts', 'test/sshd/setup/unlikeNodes.test.ts'];

// Real servers on two cores. The tests mostly wait, so two files run at a time. Each file has hosts,
// homes, ports and locks of its own.
export default defineConfig({
  test: {
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: [all],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});

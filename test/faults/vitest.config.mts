import { defineConfig } from 'vitest/config';

// `npm run test:faults`: the long form of every fault. What is not in this folder are the short
// forms' own files, which take longer settings by this variable (test/cluster/support/form.ts). One
// file at a time, as each loads the machine.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts'],
    include: [
      'test/faults/**/*.test.ts',
      'test/cluster/**/*.test.ts',
      'test/long/{asleep,clock}.test.ts',
      'test/local/{files/logs,runs/{resume,gpuRace},trainer/strategies}.test.ts',
      'test/sshd/{login/{hostKeys,jumps,loginShells,secrets},runs/{faults,manyHosts}}.test.ts',
    ],
    env: { TRAINYARD_FAULTS: 'long' },
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    fileParallelism: false,
    testTimeout: 45 * 60_000,
    hookTimeout: 10 * 60_000,
  },
});

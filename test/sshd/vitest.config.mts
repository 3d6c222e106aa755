import { defineConfig } from 'vitest/config';
import { together } from '../support/together.mjs';

const all = 'test/sshd/**/*.test.ts';
/** It says how long 32 hosts take. */
const alone = ['test/sshd/runs/manyHosts.test.ts'];

// Real servers on two cores. The tests mostly wait, so three files run at a time. Each file has
// hosts, homes, ports and locks of its own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts', 'test/support/endlessYield.ts'],
    setupFiles: ['test/support/ssh2AsPackaged.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: together(all, alone, 3),
  },
});

import { defineConfig } from 'vitest/config';
import { together } from '../support/together.mjs';

const all = 'test/editor/**/*.test.ts';
/**
 * One measures how soon the editor says what happened. The other makes a package, which writes dist
 * anew, from which the other editors run.
 */
const alone = ['test/editor/runStates.test.ts', 'test/editor/package/vsix.test.ts'];

// Whole editors on two cores. The tests wait half of their time, so two files run at a time. Each
// file has an editor, folders, ports and nodes of its own.
export default defineConfig({
  test: {
    globalSetup: ['test/support/ownHome.ts', 'test/support/endlessYield.ts'],
    testTimeout: 150_000,
    hookTimeout: 120_000,
    projects: together(all, alone, 2),
  },
});

// npm test: every suite that a change must pass, or the ones named. Prints each suite's time beside
// its budget and one line of sums at the end. `npm run test:sshd -- FILE…` runs single test files
// of that suite, with all that the suite needs.
import { ensureChromium } from '../editor/chromium.mjs';
import { ensureCodeServer } from '../editor/codeServer.mjs';
import { ensureCudaToolkit } from '../native/cudaToolkit.mjs';
import { ensureBuilt, ensurePackages } from '../build/prepare.mjs';
import { ensureSlurm } from '../practice/slurm.mjs';
import { ensureSshd } from '../practice/sshd.mjs';
import { vitest } from './vitest.mjs';
import { ensureWindowsNode } from './windowsNode.mjs';
import { added, none } from '../lib/counts.mjs';
import { main, step } from '../lib/shell.mjs';
import { fuzz, testNative } from '../native/native.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

/**
 * `budget` in minutes on two cores. One that is `named` runs only when it is named. `run` gets the
 * test files to run, none of them for all.
 * @typedef {{ budget: number, run: (files: readonly string[]) => Counts | Promise<Counts>, named?: boolean }} Suite
 */

/** @type {Record<string, Suite>} */
const suites = {
  unit: { budget: 2, run: (files) => (ensurePackages(), vitest('vitest.config.mts', files)) },
  native: {
    budget: 12,
    run: (files) => {
      if (files.length > 0) throw new Error('native tests are programs: see CONTRIBUTING.md');
      return testNative();
    },
  },
  local: {
    budget: 8,
    run: (files) => (ensureBuilt(), ensureCudaToolkit(), vitest('test/local/vitest.config.mts', files)),
  },
  sshd: {
    budget: 6,
    run: (files) => (ensureBuilt(), ensureSshd(), vitest('test/sshd/vitest.config.mts', files)),
  },
  cluster: {
    budget: 7,
    run: (files) => (ensureBuilt(), ensureSshd(), vitest('test/cluster/vitest.config.mts', files)),
  },
  // Skipped without root.
  slurm: {
    budget: 5,
    run: (files) => (
      ensureBuilt(),
      ensureSshd(),
      ensureSlurm(),
      vitest('test/slurm/vitest.config.mts', files)
    ),
  },
  // Skipped where there is no Wine.
  windows: {
    budget: 3,
    run: (files) => (
      ensureBuilt(),
      ensureSshd(),
      ensureWindowsNode(),
      vitest('test/windows/vitest.config.mts', files)
    ),
  },
  webview: {
    budget: 6,
    run: (files) => (ensurePackages(), ensureChromium(), vitest('test/webview/vitest.config.mts', files)),
  },
  editor: {
    budget: 13,
    run: (files) => (ensureBuilt(), ensureCodeServer(), vitest('test/editor/vitest.config.mts', files)),
  },
  // The first time it fetches MLflow, which takes minutes: so only when it is named.
  trackers: {
    budget: 3,
    named: true,
    run: (files) => (ensureBuilt(), vitest('test/trackers/vitest.config.mts', files)),
  },
  // What takes minutes by itself.
  long: {
    budget: 25,
    named: true,
    run: (files) => {
      ensureBuilt();
      ensureCudaToolkit();
      ensureSshd();
      ensureSlurm();
      ensureCodeServer();
      const tests = vitest('test/long/vitest.config.mts', files);
      return files.length > 0 ? tests : added(tests, fuzz(5));
    },
  },
  // The long form of every fault: hours, so only when it is named.
  faults: {
    budget: 180,
    named: true,
    run: (files) => (
      ensureBuilt(),
      ensureSshd(),
      files.length > 0
        ? vitest('test/faults/vitest.config.mts', files)
        : added(vitest('test/faults/vitest.config.mts', []), fuzz(600))
    ),
  },
};
const usual = Object.keys(suites).filter((name) => !suites[name]?.named);

/** @param {string} name */
function suiteOf(name) {
  const suite = suites[name];
  if (!suite) throw new Error(`no suite '${name}'. Suites: ${Object.keys(suites).join(', ')}`);
  return suite;
}

main(async () => {
  const words = process.argv.slice(2);
  const files = words.filter((word) => word.endsWith('.ts'));
  const names = words.filter((word) => !files.includes(word));
  if (files.length > 0 && names.length !== 1) throw new Error('test files need the one suite they are of');
  const chosen = (names.length > 0 ? names : usual).map((name) => ({ name, ...suiteOf(name) }));
  let sum = none;
  const lines = [];
  for (const { name, budget, run } of chosen) {
    step(`suite ${name}`);
    const started = Date.now();
    const counts = await run(files);
    sum = added(sum, counts);
    const minutes = ((Date.now() - started) / 60000).toFixed(1);
    const late = Number(minutes) > budget ? '  OVER BUDGET' : '';
    lines.push(
      `${name.padEnd(8)} ${minutes.padStart(5)} min of ${budget}${late}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
    );
  }
  for (const name of sum.unsteady ?? []) lines.push(`UNSTEADY (failed once, passed by itself): ${name}`);
  process.stdout.write(
    `\n${lines.join('\n')}\n\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`,
  );
  if (sum.failed > 0 || sum.passed === 0) process.exitCode = 1;
});

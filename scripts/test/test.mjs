// npm test: every suite that a change must pass, or the ones named. Prints each suite's time beside
// its budget and one line of sums at the end. `npm run test:sshd -- FILE…` runs single test files
// of that suite, with all that the suite needs.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureChromium } from '../editor/chromium.mjs';
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
 * `budget` in minutes on two cores. One that is `named` runs only when it is named. One that `waits`
 * most of its time runs beside the one after it. `run` gets the test files to run, none of them for
 * all.
 * @typedef {{
 *   budget: number,
 *   run: (files: readonly string[]) => Counts | Promise<Counts>,
 *   named?: boolean,
 *   waits?: boolean,
 * }} Suite
 *
 * What a suite came to, with a line that says so.
 * @typedef {{ counts: Counts, line: string }} Ended
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
    budget: 10,
    run: (files) => (ensureBuilt(), ensureCudaToolkit(), vitest('test/local/vitest.config.mts', files)),
  },
  sshd: {
    budget: 6,
    run: (files) => (ensureBuilt(), ensureSshd(), vitest('test/sshd/vitest.config.mts', files)),
  },
  cluster: {
    budget: 12,
    run: (files) => (ensureBuilt(), ensureSshd(), vitest('test/cluster/vitest.config.mts', files)),
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
  // Skipped without root.
  slurm: {
    budget: 6,
    waits: true,
    run: (files) => (
      ensureBuilt(),
      ensureSshd(),
      ensureSlurm(),
      vitest('test/slurm/vitest.config.mts', files)
    ),
  },
  webview: {
    budget: 6,
    run: (files) => (ensurePackages(), ensureChromium(), vitest('test/webview/vitest.config.mts', files)),
  },
  editor: { budget: 13, run: (files) => (ensureBuilt(), vitest('test/editor/vitest.config.mts', files)) },
  // The first time it fetches MLflow, which takes minutes: so only when it is named.
  trackers: {
    budget: 3,
    named: true,
    run: (files) => (ensureBuilt(), vitest('test/trackers/vitest.config.mts', files)),
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

/**
 * Runs a suite to its end.
 * @param {string} name
 * @param {readonly string[]} files
 * @returns {Promise<Ended>}
 */
async function runHere(name, files) {
  const { budget, run } = suiteOf(name);
  step(`suite ${name}`);
  const started = Date.now();
  const counts = await run(files);
  const minutes = ((Date.now() - started) / 60000).toFixed(1);
  const late = Number(minutes) > budget ? '  OVER BUDGET' : '';
  const sums = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
  return { counts, line: `${name.padEnd(8)} ${minutes.padStart(5)} min of ${budget}${late}: ${sums}` };
}

/**
 * Starts a suite as a process of its own. What is returned waits for its end and prints its output.
 * @param {string} name
 * @returns {() => Promise<Ended>}
 */
function startBeside(name) {
  step(`suite ${name}, beside the next one; its output follows`);
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-suite-'));
  const log = join(folder, 'output');
  const ended = join(folder, 'ended.json');
  const output = openSync(log, 'w'); // a pipe would fill up while the other suite runs
  const words = [fileURLToPath(import.meta.url), name, '--ended', ended];
  const child = spawn(process.execPath, words, { stdio: ['ignore', output, output] });
  closeSync(output);
  const closed = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  return async () => {
    try {
      await closed;
      process.stdout.write(readFileSync(log));
      if (existsSync(ended)) return JSON.parse(readFileSync(ended, 'utf8'));
      return { counts: { ...none, failed: 1 }, line: `${name.padEnd(8)} did not come to its end` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ended: { type: 'string' } }, // where startBeside() wants to read how the suite ended
  });
  const files = positionals.filter((word) => word.endsWith('.ts'));
  const names = positionals.filter((word) => !files.includes(word));
  if (files.length > 0 && names.length !== 1) throw new Error('test files need the one suite they are of');
  const chosen = names.length > 0 ? names : usual;
  let sum = none;
  /** @type {string[]} */
  const lines = [];
  /** @param {Ended} ended */
  const add = ({ counts, line }) => {
    sum = added(sum, counts);
    lines.push(line);
  };
  /** @type {(() => Promise<Ended>)[]} */
  const beside = [];
  for (const name of chosen) {
    if (suiteOf(name).waits && name !== chosen.at(-1)) {
      beside.push(startBeside(name));
      continue;
    }
    const ended = await runHere(name, files);
    for (const end of beside.splice(0)) add(await end());
    add(ended);
    if (values.ended !== undefined) writeFileSync(values.ended, JSON.stringify(ended));
  }
  for (const name of sum.unsteady ?? []) lines.push(`UNSTEADY (failed once, passed by itself): ${name}`);
  process.stdout.write(
    `\n${lines.join('\n')}\n\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`,
  );
  if (sum.failed > 0 || sum.passed === 0) process.exitCode = 1;
});

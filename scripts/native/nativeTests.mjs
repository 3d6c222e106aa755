// Runs GoogleTest programs and counts what they did.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { added, none } from '../lib/counts.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

/**
 * What we read of GoogleTest's JSON report.
 * @typedef {{ name: string, classname: string, status: string, result: string, failures?: unknown[] }} Test
 * @typedef {{ testsuites: { testsuite: Test[] }[] }} Report
 */

/** @param {string} report */
function testsOf(report) {
  /** @type {Report} */
  const { testsuites } = JSON.parse(readFileSync(report, 'utf8'));
  return testsuites.flatMap((suite) => suite.testsuite).filter(({ status }) => status === 'RUN');
}

/** Tests of one process that may have a second try; more failures are a fault of the code. */
const mostSecondTries = 4;

/**
 * One program's counts from its JSON report; a program that died without one counts as one failure.
 * @param {string} report
 * @param {number | null} status
 * @returns {Counts}
 */
function countsOf(report, status) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const tests = testsOf(report);
  const skipped = tests.filter((test) => test.result === 'SKIPPED').length;
  const failed = tests.filter((test) => test.failures).length;
  const passed = tests.length - skipped - failed;
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed, skipped };
}

/** What is run by itself (npm run cuda12:engines), and may lie beside the others. */
const notInAll = new Set(['test_cuda12_engines']);

/** @param {string} name */
export const isTestProgram = (name) => /^test_[a-z0-9_]+$/.test(name);

/** @param {string} folder */
const allIn = (folder) =>
  readdirSync(folder)
    .filter((name) => isTestProgram(name) && !notInAll.has(name))
    .sort();

/**
 * @typedef {{ status: number | null, signal: string | null, output: string, counts: Counts }} Ended
 */

/**
 * Runs one share of a program's tests to its end.
 * @param {string} program
 * @param {string} report where GoogleTest writes it
 * @param {readonly string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Ended>}
 */
function runShare(program, report, words, env) {
  return new Promise((resolve, reject) => {
    const args = [`--gtest_output=json:${report}`, '--gtest_brief=1', ...words];
    const child = spawn(program, args, { cwd: dirname(report), env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    child.on('error', reject);
    child.on('close', (status, signal) => {
      resolve({ status, signal, output, counts: countsOf(report, status) });
    });
  });
}

/**
 * The counts of a share. Its failed tests are run once more by themselves, and that result counts; a
 * test that passes only then is named as unsteady, since its fault is still to be found.
 * @param {string} program
 * @param {string} report of the first try
 * @param {Ended} first
 * @param {readonly string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Counts>}
 */
async function secondTry(program, report, first, words, env) {
  if (first.counts.failed === 0 || !existsSync(report)) return first.counts;
  const failed = testsOf(report).filter((test) => test.failures);
  if (failed.length === 0 || failed.length > mostSecondTries) return first.counts;
  const names = failed.map((test) => `${test.classname}.${test.name}`);
  const filter = `--gtest_filter=${names.join(':')}`;
  const again = await runShare(program, `${report}.again`, [...words, filter], env);
  if (again.counts.failed > 0) process.stdout.write(`second try, by themselves:\n${again.output}\n`);
  return {
    passed: first.counts.passed + again.counts.passed,
    failed: again.counts.failed,
    skipped: first.counts.skipped + again.counts.skipped,
    unsteady: again.counts.failed === 0 ? names : [],
  };
}

/**
 * Runs programs of `folder` (every test_* there unless named), `workers` at a time, and returns the
 * sums. Output of a failing program is shown whole. `words` are more arguments, `env` the programs'
 * environment. They get a home folder of their own, so that no login shell reads the user's files.
 * `shares`: into how many processes at once the tests of a program are divided, for a program that
 * mostly waits. `first`: programs that begin before the others.
 * @param {string} folder
 * @param {{
 *   names?: readonly string[],
 *   words?: readonly string[],
 *   env?: NodeJS.ProcessEnv,
 *   shares?: Record<string, number>,
 *   workers?: number,
 *   first?: readonly string[],
 * }} [options]
 * @returns {Promise<Counts>}
 */
export async function runNativeTests(folder, options = {}) {
  const { names = allIn(folder), words = [], shares = {}, workers = 1, first = [] } = options;
  const reports = mkdtempSync(join(tmpdir(), 'trainyard-native-'));
  const home = join(reports, 'home');
  mkdirSync(home);
  // Several programs share the cores: a thread that spins takes the core that the others wait for.
  const env = { OMP_WAIT_POLICY: 'passive', ...(options.env ?? process.env), HOME: home };
  let sum = none;
  const waiting = [...names].sort((a, b) => Number(first.includes(b)) - Number(first.includes(a)));
  /** @param {string} name */
  const runOne = async (name) => {
    const total = shares[name] ?? 1;
    const started = Date.now();
    const all = await Promise.all(
      Array.from({ length: total }, (_, index) => {
        const own = { ...env, GTEST_TOTAL_SHARDS: String(total), GTEST_SHARD_INDEX: String(index) };
        const report = join(reports, `${name}-${index}.json`);
        return runShare(join(folder, name), report, words, total === 1 ? env : own);
      }),
    );
    let counts = none;
    for (const [index, each] of all.entries()) {
      const report = join(reports, `${name}-${index}.json`);
      if (each.counts.failed > 0) process.stdout.write(`${each.output}\n${each.signal ?? ''}\n`);
      counts = added(counts, await secondTry(join(folder, name), report, each, words, env));
    }
    sum = added(sum, counts);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    process.stdout.write(
      `  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s)\n`,
    );
    for (const { output } of all) {
      for (const line of output.split('\n'))
        if (/^.*: Skipped$/.test(line) || line.includes('[  SKIPPED ]'))
          process.stdout.write(`    ${line}\n`);
    }
  };
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await runOne(name);
  };
  try {
    await Promise.all(Array.from({ length: workers }, worker));
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
  return sum;
}

// Runs GoogleTest programs and counts what they did.
import { mkdtempSync, readFileSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { added, none } from '../lib/counts.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

/**
 * What we read of GoogleTest's JSON report.
 * @typedef {{ status: string, result: string, failures?: unknown[] }} Test
 * @typedef {{ testsuites: { testsuite: Test[] }[] }} Report
 */

/**
 * One program's counts from its JSON report; a program that died without one counts as one failure.
 * @param {string} report
 * @param {number | null} status
 * @returns {Counts}
 */
function countsOf(report, status) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  /** @type {Report} */
  const { testsuites } = JSON.parse(readFileSync(report, 'utf8'));
  const tests = testsuites.flatMap((suite) => suite.testsuite).filter(({ status }) => status === 'RUN');
  const skipped = tests.filter((test) => test.result === 'SKIPPED').length;
  const failed = tests.filter((test) => test.failures).length;
  const passed = tests.length - skipped - failed;
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed, skipped };
}

/** @param {string} folder */
const allIn = (folder) =>
  readdirSync(folder)
    .filter((name) => /^test_[a-z_]+$/.test(name))
    .sort();

/**
 * Runs programs of `folder` (every test_* there unless named) and returns the sums. Output of a
 * failing program is shown whole. `words` are more arguments, `env` the programs' environment.
 * @param {string} folder
 * @param {{ names?: readonly string[], words?: readonly string[], env?: NodeJS.ProcessEnv }} [options]
 * @returns {Counts}
 */
export function runNativeTests(folder, { names = allIn(folder), words = [], env = process.env } = {}) {
  const reports = mkdtempSync(join(tmpdir(), 'trainyard-native-'));
  let sum = none;
  try {
    for (const name of names) {
      const report = join(reports, `${name}.json`);
      const started = Date.now();
      const every = [`--gtest_output=json:${report}`, '--gtest_brief=1', ...words];
      const result = spawnSync(join(folder, name), every, {
        encoding: 'utf8',
        cwd: reports,
        env,
        maxBuffer: 1 << 28,
      });
      const counts = countsOf(report, result.status);
      sum = added(sum, counts);
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      process.stdout.write(
        `  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s)\n`,
      );
      for (const line of result.stdout.split('\n'))
        if (/^.*: Skipped$/.test(line) || line.includes('[  SKIPPED ]'))
          process.stdout.write(`    ${line}\n`);
      if (counts.failed > 0)
        process.stdout.write(
          `${result.stdout}\n${result.stderr}\n${result.signal ? `ended by ${result.signal}\n` : ''}`,
        );
    }
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
  return sum;
}

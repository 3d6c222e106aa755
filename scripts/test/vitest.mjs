// Runs vitest with a configuration and counts what it did.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { added } from '../lib/counts.mjs';
import { root } from '../lib/paths.mjs';
import { step } from '../lib/shell.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

/** A fault of the code fails more files than these, and needs no second look. */
const mostSecondTries = 4;

/**
 * What we read of vitest's JSON report.
 * @typedef {{ name: string, status: string, assertionResults: { status: string, fullName: string }[] }} File
 * @typedef {{ testResults: File[] }} Report
 */

/** Says what vitest's JSON report leaves out. */
const ofErrors = fileURLToPath(new URL('./unhandledErrors.mjs', import.meta.url));

/**
 * One run. `files` are undefined where vitest itself failed. `outside`: something failed that is no
 * failure of a test or of a file.
 * @param {string} config
 * @param {readonly string[]} files of them only; none for all
 * @returns {{ files: File[] | undefined, status: number | null, outside: boolean }}
 */
function runOnce(config, files) {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-vitest-'));
  const report = join(folder, 'report.json');
  const errors = join(folder, 'errors');
  try {
    const args = [
      'vitest',
      'run',
      '--config',
      config,
      '--reporter=default',
      '--reporter=json',
      `--reporter=${ofErrors}`,
      `--outputFile.json=${report}`,
      `--outputFile.unhandledErrors=${errors}`,
      ...files,
    ];
    const { status } = spawnSync('npx', ['--no-install', ...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (!existsSync(report)) return { files: undefined, status, outside: true };
    /** @type {Report} */
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    // Failed tests make vitest exit with 1; a crash at its end has another number or a signal.
    const crashed = status !== 0 && status !== 1;
    const unhandled = existsSync(errors) ? Number(readFileSync(errors, 'utf8')) : NaN;
    return { files: testResults, status, outside: crashed || unhandled !== 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A file that failed without a failed test (a hook, an import) counts as one failure.
 * @param {readonly File[]} files
 * @returns {Counts}
 */
function countsOf(files) {
  const tests = files.flatMap((file) => file.assertionResults);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failed = tests.filter(({ status }) => status === 'failed').length;
  const broken = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  ).length;
  return { passed, failed: failed + broken, skipped: tests.length - passed - failed };
}

/**
 * Runs vitest. A file that failed beside others is run once more by itself, and that result counts;
 * a test that passes only then is named as unsteady, since its fault is still to be found.
 * @param {string} config
 * @param {readonly string[]} named the files to run; none for all
 * @returns {Counts}
 */
export function vitest(config, named) {
  const first = runOnce(config, named);
  if (!first.files) return { passed: 0, failed: 1, skipped: 0 };
  const failed = first.files.filter(({ status }) => status === 'failed');
  const counts = countsOf(first.files);
  if (counts.failed === 0 && first.status !== 0) return { ...counts, failed: 1 };
  if (failed.length === 0 || failed.length > mostSecondTries) return counts;
  let sum = countsOf(first.files.filter((file) => !failed.includes(file)));
  if (first.outside) {
    step('errors outside of the tests count as one failure, whatever a second try says');
    sum = added(sum, { passed: 0, failed: 1, skipped: 0 });
  }
  for (const file of failed) {
    const path = relative(root, file.name);
    step(`second try, by itself: ${path}`);
    const { files, status } = runOnce(config, [path]);
    const again = files ? countsOf(files) : { passed: 0, failed: 1, skipped: 0 };
    const names = file.assertionResults.filter((test) => test.status === 'failed');
    const unsteady =
      names.length === 0 ? [`${path}: set-up`] : names.map((test) => `${path}: ${test.fullName}`);
    if (again.failed === 0 && status !== 0) sum = added(sum, { ...again, failed: 1 });
    else sum = added(sum, again.failed === 0 ? { ...again, unsteady } : again);
  }
  return sum;
}

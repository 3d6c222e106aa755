// Runs vitest with a configuration and counts what it did.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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

/**
 * One run; its files, or nothing where vitest itself failed.
 * @param {string} config
 * @param {readonly string[]} files of them only; none for all
 * @returns {{ files: File[] | undefined, status: number | null }}
 */
function runOnce(config, files) {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-vitest-'));
  const report = join(folder, 'report.json');
  try {
    const args = [
      'vitest',
      'run',
      '--config',
      config,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...files,
    ];
    const { status } = spawnSync('npx', ['--no-install', ...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (!existsSync(report)) return { files: undefined, status };
    /** @type {Report} */
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return { files: testResults, status };
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

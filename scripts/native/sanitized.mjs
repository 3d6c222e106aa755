// The native tests built so that they report their own faults: build folders of their own, and
// every report counted.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cCompiler } from './clang.mjs';
import { compilerCacheWords } from './compilerCache.mjs';
import { runNativeTests } from './nativeTests.mjs';
import { added, none } from '../lib/counts.mjs';
import { build, root, toolchainLink } from '../lib/paths.mjs';
import { capture, run, step } from '../lib/shell.mjs';

/** @typedef {'address' | 'thread'} Sanitizer */

const native = join(root, 'native');
/** @param {string} name */
const tool = (name) => join(toolchainLink, 'venv', 'bin', name);

/**
 * Builds these test programs with `address` or `thread` and returns the folder that they are in.
 * @param {Sanitizer} kind
 * @param {string} compiler
 * @param {readonly string[]} names
 */
export function buildSanitized(kind, compiler, names) {
  step(`native: ${kind} sanitizer (${compiler})`);
  const output = join(build, 'sanitizers', kind);
  mkdirSync(output, { recursive: true });
  const words = ['-S', native, '-B', output, '-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${tool('ninja')}`];
  const own = [
    `-DCMAKE_CXX_COMPILER=${compiler}`,
    `-DCMAKE_C_COMPILER=${cCompiler(compiler)}`,
    `-DTRAINYARD_SANITIZE=${kind}`,
    ...compilerCacheWords(),
    '-Wno-author',
    '-Wno-deprecated',
  ];
  const log = capture(tool('cmake'), [...words, ...own]);
  if (!log.ok) throw new Error(`cmake failed:\n${log.stdout}\n${log.stderr}`);
  run(tool('ninja'), ['-C', output, '--quiet', ...names], { stdio: ['ignore', 2, 2] });
  return join(output, 'node', 'bin');
}

/**
 * Reports go to files, so that none is lost with the output of a process that a test started.
 * @param {Sanitizer} kind
 * @param {string} reports
 */
function environment(kind, reports) {
  // clang's own symbolizer is a package more; binutils came with g++.
  const symbolizer = capture('sh', ['-c', 'command -v addr2line']).stdout.trim();
  const log = `log_path=${join(reports, 'report')}:external_symbolizer_path=${symbolizer}`;
  const suppressed = `suppressions=${join(native, 'tests', 'sanitizers', `${kind}.txt`)}`;
  const options =
    kind === 'thread'
      ? // The process that asks for figures is forked from one with threads, and has its own.
        { TSAN_OPTIONS: `${log}:${suppressed}:halt_on_error=0:second_deadlock_stack=1:die_after_fork=0` }
      : {
          ASAN_OPTIONS: `${log}:strict_string_checks=1:check_initialization_order=1`,
          UBSAN_OPTIONS: `${log}:print_stacktrace=1`,
          LSAN_OPTIONS: `${suppressed}:print_suppressions=0`,
        };
  return { ...process.env, ...options };
}

/**
 * Runs them one after another; each report that a process left is one failure, and is shown.
 * @param {Sanitizer} kind
 * @param {string} folder
 * @param {readonly string[]} names
 * @param {readonly string[]} words
 */
export async function runSanitized(kind, folder, names, words) {
  const reports = mkdtempSync(join(tmpdir(), 'trainyard-sanitizers-'));
  let sum = none;
  /** @type {Set<string>} */
  const seen = new Set();
  try {
    step(`native: tests, ${kind} sanitizer`);
    for (const name of names) {
      const counts = await runNativeTests(folder, { names: [name], words, env: environment(kind, reports) });
      const found = readdirSync(reports).filter((file) => !seen.has(file));
      for (const file of found) {
        seen.add(file);
        process.stdout.write(`\n${name}: ${readFileSync(join(reports, file), 'utf8').slice(0, 8000)}\n`);
      }
      if (found.length > 0) process.stdout.write(`  ${name}: ${found.length} reports of the sanitizer\n`);
      counts.failed += found.length;
      sum = added(sum, counts);
    }
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
  return sum;
}

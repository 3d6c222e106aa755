// The fuzz targets of native/fuzz: built with Debian's clang, which alone brings libFuzzer, and run
// side by side.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { cCompiler, ensureClang } from './clang.mjs';
import { compilerCacheWords } from './compilerCache.mjs';
import { none } from '../lib/counts.mjs';
import { build, root, toolchainLink } from '../lib/paths.mjs';
import { capture, run, step } from '../lib/shell.mjs';
import { ensureToolchain } from './toolchain.mjs';

const folder = join(build, 'fuzz');
const binaries = join(folder, 'bin');
const source = join(root, 'native', 'fuzz');
/** @param {string} name */
const tool = (name) => join(toolchainLink, 'venv', 'bin', name);

/** The targets' names: every source that CMakeLists.txt makes a program of. */
export const targets = namesIn(readFileSync(join(source, 'CMakeLists.txt'), 'utf8'));

/** @param {string} text */
function namesIn(text) {
  const names = /foreach\(name (records[^)]*)\)\n {2}add_executable/.exec(text)?.[1];
  if (names === undefined) throw new Error(`${source}/CMakeLists.txt does not list the fuzz targets`);
  return names.split(' ');
}

export function buildFuzzers() {
  ensureToolchain();
  const compiler = ensureClang(['asan', 'fuzzer']);
  step(`native: fuzz targets (${compiler})`);
  const output = join(folder, 'cmake');
  mkdirSync(output, { recursive: true });
  const words = ['-S', source, '-B', output, '-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${tool('ninja')}`];
  const compilers = [
    `-DCMAKE_CXX_COMPILER=${compiler}`,
    `-DCMAKE_C_COMPILER=${cCompiler(compiler)}`,
    `-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${binaries}`,
    ...compilerCacheWords(),
  ];
  const log = capture(tool('cmake'), [...words, ...compilers]);
  if (!log.ok) throw new Error(`cmake failed:\n${log.stdout}\n${log.stderr}`);
  run(tool('ninja'), ['-C', output, '--quiet'], { stdio: ['ignore', 2, 2] });
}

/** @param {string} name */
const crashesOf = (name) => {
  const at = join(folder, 'crashes');
  mkdirSync(at, { recursive: true });
  return readdirSync(at)
    .filter((file) => file.startsWith(`${name}-`))
    .map((file) => join(at, file));
};

/**
 * Runs one target from its seeds and what earlier runs found. Returns {name, executions, failed,
 * text}.
 * @param {string} name
 * @param {number} seconds
 */
async function fuzz(name, seconds) {
  const program = join(binaries, `fuzz_${name}`);
  const corpus = join(folder, 'corpus', name);
  mkdirSync(corpus, { recursive: true });
  run(program, [], { env: { ...process.env, TRAINYARD_FUZZ_SEEDS: corpus } });
  const before = new Set(crashesOf(name));
  const words = [
    corpus,
    `-max_total_time=${seconds}`,
    '-timeout=20',
    '-rss_limit_mb=2048',
    '-max_len=65536',
    '-print_final_stats=1',
    `-artifact_prefix=${join(folder, 'crashes', `${name}-`)}`,
  ];
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (text = (text + chunk).slice(-20000)));
  const status = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  const executions = Number(/number_of_executed_units: (\d+)/.exec(text)?.[1] ?? 0);
  const found = crashesOf(name).filter((file) => !before.has(file));
  return { name, executions, failed: status !== 0 || executions === 0, text, program, found };
}

/**
 * Runs targets side by side, as many as there are cores; prints a line for each, and of a crash how
 * to see it again.
 * @param {readonly string[]} names
 * @param {number} seconds
 */
export async function runFuzzers(names, seconds) {
  const waiting = [...names];
  const counts = { ...none };
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const result = await fuzz(name, seconds);
      counts[result.failed ? 'failed' : 'passed'] += 1;
      const how = result.failed ? 'FAILED' : 'no crash';
      process.stdout.write(`  fuzz ${name}: ${how} in ${result.executions} runs (${seconds} s)\n`);
      if (!result.failed) continue;
      process.stdout.write(`${result.text}\n`);
      for (const file of result.found)
        process.stdout.write(
          `  kept: ${relative(root, file)}\n  again: ${relative(root, result.program)} ${relative(root, file)}\n`,
        );
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, availableParallelism()) }, worker));
  return counts;
}

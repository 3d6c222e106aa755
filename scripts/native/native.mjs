// Builds and tests the native parts:
// node scripts/native/native.mjs build|cuda|cuda12:engines|test|format|format:check
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, cache, root, toolchainLink } from '../lib/paths.mjs';
import { added } from '../lib/counts.mjs';
import { capture, main, run, step } from '../lib/shell.mjs';
import { compilerCacheWords } from './compilerCache.mjs';
import { auditOnce } from './cudaAudit.mjs';
import { ensureCuda12Toolkit } from './cuda12Toolkit.mjs';
import { ensureCudaToolkit } from './cudaToolkit.mjs';
import { restoreOrMake } from './keptBuilds.mjs';
import { runNativeTests } from './nativeTests.mjs';
import { filesOfGit, sourcesHash } from './sources.mjs';
import { ensureToolchain } from './toolchain.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

const native = join(root, 'native');
const output = join(build, 'native', 'release');
/** @param {string} name */
const tool = (name) => join(toolchainLink, 'venv', 'bin', name);

/**
 * Everything under native but the tests.
 * @param {string} path
 */
const ofPrograms = (path) => !/^native\/(tests|fuzz)\//.test(path);
/**
 * What libtrainer_cuda.so is made from, and the rules.
 * @param {string} path
 */
const ofCudaLibrary = (path) =>
  /^native\/(CMake|cmake\/|common\/|trainer\/(base\/(device_|view)|ops\/(CMake|contract\/|cuda\/)|tensor\/|optim\/))/.test(
    path,
  );

/** @param {...string} more */
function configure(...more) {
  mkdirSync(output, { recursive: true });
  // CMake keeps the compiler that it found first.
  const stamp = join(output, 'toolchain.txt');
  const toolchain = realpathSync(toolchainLink);
  const fresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === toolchain ? [] : ['--fresh'];
  const quiet = ['-Wno-author', '-Wno-deprecated'];
  const words = ['--preset', 'release', ...quiet, ...fresh, ...compilerCacheWords(), ...more];
  const log = capture(tool('cmake'), words, { cwd: native });
  if (!log.ok) throw new Error(`cmake failed:\n${log.stdout}\n${log.stderr}`);
  writeFileSync(stamp, toolchain);
}

/** @param {readonly string[]} targets */
function ninja(targets) {
  const cores = Math.max(2, availableParallelism());
  // What a compiler complains of comes on ninja's standard output.
  const quiet = process.stderr.isTTY ? [] : ['--quiet'];
  run(tool('ninja'), ['-C', output, '-j', String(cores), ...quiet, ...targets], { stdio: ['ignore', 2, 2] });
}

function linkLibraries() {
  const libraries = join(output, 'node', 'lib');
  rmSync(libraries, { force: true });
  symlinkSync(join(toolchainLink, 'venv', 'lib'), libraries);
}

/** What CMake puts beside the binaries. */
function carryScripts() {
  const share = join(output, 'node', 'share');
  /** @param {string} path */
  const python = (path) => statSync(path).isDirectory() || path.endsWith('.py');
  cpSync(join(native, 'agent', 'tensorboard', 'tensorboard_server.py'), join(share, 'tensorboard_server.py'));
  cpSync(join(native, 'agent', 'notify', 'notify.py'), join(share, 'notify.py'));
  cpSync(join(native, 'agent', 'slurm'), join(share, 'slurm'), { recursive: true, filter: python });
  cpSync(join(native, 'node', 'driver.py'), join(share, 'slurm', 'driver.py'));
  cpSync(join(native, 'trainer', 'data', 'fetch'), join(share, 'fetch'), { recursive: true, filter: python });
}

/**
 * At the first link of a kind zig compiles its C++ library, on one core, for two minutes. CMake's
 * checks are such a link. This one, of the stripped kind that the agent is, goes on beside them.
 * Where it fails, the link of the agent fails too, and says why.
 */
function beginStandardLibrary() {
  const source = join(output, 'linked.cpp');
  mkdirSync(output, { recursive: true });
  writeFileSync(source, 'int main() {}\n');
  const target = ['-target', 'x86_64-linux-gnu.2.28']; // as native/cmake/zig.cmake has it
  const words = [...target, '-O3', '-s', source, '-o', join(output, 'linked')];
  spawn(join(toolchainLink, 'zig', 'c++'), words, { stdio: 'ignore' }).on('error', () => undefined);
}

/** Makes build/native/release/node/bin/{agent,trainer}, and what belongs beside them. */
export function buildNative() {
  const toolchain = ensureToolchain();
  const restored = restoreOrMake({
    folder: join(cache, 'native'),
    sources: () => sourcesHash(toolchain, ofPrograms),
    binaries: join(output, 'node', 'bin'),
    make: () => {
      step('native: agent and trainer');
      beginStandardLibrary();
      configure();
      ninja(['agent', 'trainer']);
    },
  });
  if (!restored) return;
  linkLibraries();
  carryScripts();
}

/** CMake makes both libraries in one tree, whose rules are there for whoever has both toolkits. */
const bothLibraries = ['-DTRAINYARD_CUDA=ON', '-DTRAINYARD_CUDA12=ON'];

/**
 * Makes build/native/release/node/cuda and cuda12: libtrainer_cuda.so for CUDA 13 and for CUDA 12,
 * and what the assembler said of their kernels.
 */
export function buildCuda() {
  const toolchain = ensureToolchain();
  const builds = [
    { target: 'trainer_cuda', name: 'cuda', tools: ensureCudaToolkit() },
    { target: 'trainer_cuda12', name: 'cuda12', tools: ensureCuda12Toolkit() },
  ];
  let configured = false;
  for (const { target, name, tools } of builds) {
    restoreOrMake({
      folder: join(cache, `${name}-library`),
      sources: () => sourcesHash(toolchain + tools, ofCudaLibrary),
      binaries: join(output, 'node', name),
      make: () => {
        if (!configured) configure(...bothLibraries);
        configured = true;
        step(`native: CUDA library (${target})`);
        ninja([target]);
      },
    });
  }
}

/**
 * The fuzz targets, each for so long. Where no clang with libFuzzer can be had, they count as
 * skipped, with the reason.
 * @param {number} seconds
 * @returns {Counts}
 */
export function fuzz(seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-fuzz-'));
  const counts = join(folder, 'counts.json');
  try {
    const words = [join(root, 'scripts/native/fuzz.mjs'), '--counts', counts, '--seconds', String(seconds)];
    const { status } = spawnSync(process.execPath, words, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (existsSync(counts)) return JSON.parse(readFileSync(counts, 'utf8'));
    return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Builds and runs every native test program; returns its counts.
 * @returns {Promise<Counts>}
 */
export async function testNative() {
  ensureToolchain();
  buildCuda();
  step('native: tests');
  configure(...bothLibraries);
  ninja(['all']);
  // The agent's tests wait for processes and deadlines nearly all of their time. Most others
  // compute in one thread. The longest begin first.
  const tests = await runNativeTests(join(output, 'node', 'bin'), {
    shares: { test_agent: 6, test_models: 2 },
    workers: 3,
    first: ['test_models', 'test_agent', 'test_cuda'],
  });
  step('native: machine code of the CUDA kernels');
  const wrong = auditOnce();
  for (const line of wrong) process.stdout.write(`  cuda:audit: ${line}\n`);
  const audited = { passed: wrong.length === 0 ? 1 : 0, failed: wrong.length === 0 ? 0 : 1, skipped: 0 };
  return added(tests, audited);
}

/** Asks cuDNN for CUDA 12 for its engines on V100, A100 and H100, without a GPU. Not part of CI. */
function planForCuda12() {
  ensureToolchain();
  ensureCuda12Toolkit();
  step('native: engines of cuDNN for CUDA 12');
  configure(...bothLibraries);
  ninja(['test_cuda12_engines']);
  run(join(output, 'node/bin/test_cuda12_engines'), ['--gtest_brief=1']);
}

/** @param {readonly string[]} arguments_ */
function format(arguments_) {
  const files = filesOfGit().filter((path) => /\.(cpp|h|cu|cuh)$/.test(path));
  ensureToolchain();
  run(tool('clang-format'), [...arguments_, ...files], { cwd: root });
}

/** @type {Record<string, () => void | Promise<void>>} */
const verbs = {
  build: buildNative,
  cuda: buildCuda,
  'cuda12:engines': planForCuda12,
  test: async () => {
    const { failed } = await testNative();
    if (failed > 0) process.exitCode = 1;
  },
  format: () => format(['-i']),
  'format:check': () => format(['--dry-run', '-Werror']),
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(async () => {
    const verb = verbs[process.argv[2] ?? 'build'];
    if (!verb) throw new Error(`usage: node scripts/native/native.mjs ${Object.keys(verbs).join('|')}`);
    await verb();
  });
}

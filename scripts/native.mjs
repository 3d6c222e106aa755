// Builds and tests the native parts: node scripts/native.mjs build|test|format|format:check|tidy
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, cache, root, toolchainLink } from './lib/paths.mjs';
import { capture, main, run, step } from './lib/shell.mjs';
import { runNativeTests } from './lib/native-tests.mjs';
import { ensureToolchain } from './lib/toolchain.mjs';

const native = join(root, 'native');
const output = join(build, 'native', 'release');
const tool = (name) => join(toolchainLink, 'venv', 'bin', name);

function nativeFiles(ending = /./) {
  return capture('git', ['ls-files', '-co', '--exclude-standard', 'native'], { cwd: root })
    .stdout.split('\n')
    .filter((path) => path !== '' && ending.test(path) && existsSync(join(root, path)))
    .sort();
}

/** What the two programs are made from: everything under native but the tests, and the toolchain. */
function sourcesHash(toolchain) {
  const hash = createHash('sha256').update(toolchain);
  for (const path of nativeFiles().filter((path) => !path.startsWith('native/tests/'))) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function configure() {
  mkdirSync(build, { recursive: true });
  const log = capture(tool('cmake'), ['--preset', 'release', '-Wno-author', '-Wno-deprecated'], {
    cwd: native,
  });
  if (!log.ok) throw new Error(`cmake failed:\n${log.stdout}\n${log.stderr}`);
}

function ninja(targets) {
  const cores = Math.max(2, availableParallelism());
  run(tool('ninja'), ['-C', output, '-j', String(cores), ...targets], {
    stdio: ['ignore', process.stderr.isTTY ? 2 : 'ignore', 2],
  });
}

/** Keeps the five newest builds of the two programs, so that a second clone of the same sources need not compile. */
function store(binaries, kept) {
  const folder = join(cache, 'native');
  mkdirSync(folder, { recursive: true });
  const temporary = `${kept}.partial-${process.pid}`;
  cpSync(binaries, temporary, { recursive: true, filter: (path) => !/test_[a-z_]+$/.test(path) });
  rmSync(kept, { recursive: true, force: true });
  renameSync(temporary, kept);
  const byAge = readdirSync(folder)
    .map((name) => join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const path of byAge.slice(5)) rmSync(path, { recursive: true, force: true });
}

function restore(kept, binaries) {
  const now = new Date();
  utimesSync(kept, now, now);
  mkdirSync(binaries, { recursive: true });
  cpSync(kept, binaries, { recursive: true });
  const libraries = join(output, 'node', 'lib');
  rmSync(libraries, { force: true });
  symlinkSync(join(toolchainLink, 'venv', 'lib'), libraries);
}

/** Makes build/native/release/node/bin/{agent,trainer}. */
export function buildNative() {
  const toolchain = ensureToolchain();
  const binaries = join(output, 'node', 'bin');
  const kept = join(cache, 'native', sourcesHash(toolchain));
  if (existsSync(kept)) {
    restore(kept, binaries);
    return;
  }
  step('native: agent and trainer');
  configure();
  ninja(['agent', 'trainer']);
  store(binaries, kept);
}

/** Builds and runs every native test program; returns its counts. */
export function testNative() {
  ensureToolchain();
  step('native: tests');
  configure();
  ninja(['all']);
  return runNativeTests(join(output, 'node', 'bin'));
}

function format(arguments_) {
  ensureToolchain();
  run(tool('clang-format'), [...arguments_, ...nativeFiles(/\.(cpp|h)$/)], { cwd: root });
}

const verbs = {
  build: buildNative,
  test: () => {
    const { failed } = testNative();
    if (failed > 0) process.exitCode = 1;
  },
  format: () => format(['-i']),
  'format:check': () => format(['--dry-run', '-Werror']),
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(() => {
    const verb = verbs[process.argv[2] ?? 'build'];
    if (!verb) throw new Error(`usage: node scripts/native.mjs ${Object.keys(verbs).join('|')}`);
    verb();
  });
}

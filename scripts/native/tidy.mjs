// clang-tidy over the native sources, warnings as errors. A file that passed is not read again
// until it, any header, the checks or the toolchain change. Nearly all of its time goes into the
// standard library's headers, so files that define no name twice are read together, as one; where
// that fails, for whatever reason, by halves, and at last each file by itself.
// node scripts/native/tidy.mjs [--recent] [PART OF A PATH …]
// --recent: what the newest commits changed, and what includes a header that they changed.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build, cache, root, toolchainLink } from '../lib/paths.mjs';
import { cudaLink, ensureCudaToolkit } from './cudaToolkit.mjs';
import { capture, main, step } from '../lib/shell.mjs';
import { filesOfGit } from './sources.mjs';
import { ensureToolchain } from './toolchain.mjs';

/** @param {RegExp} pattern */
const listed = (pattern) => filesOfGit().filter((path) => pattern.test(path));

/** The include folders and definitions zig gives its clang, so that clang-tidy reads the same standard library (but
 * its own intrinsics, which belong to its own version). */
function compilerArguments() {
  const probe = join(build, 'probe.cpp');
  writeFileSync(probe, `int probe_${Date.now()}() { return 0; }\n`); // a new text: zig prints nothing for one it has cached
  const zig = join(toolchainLink, 'zig', 'c++');
  const { stderr } = capture(
    zig,
    ['-target', 'x86_64-linux-gnu.2.28', '-std=c++20', '-c', probe, '-o', `${probe}.o`],
    { env: { ...process.env, ZIG_VERBOSE_CC: '1' } },
  );
  const words = (stderr.split('\n').find((line) => line.includes('probe.cpp')) ?? '').split(' ');
  const taken = words.flatMap((word, i) =>
    word === '-isystem' && !words[i + 1]?.endsWith('/ziglang/lib/include')
      ? ['-isystem', words[i + 1] ?? '']
      : word.startsWith('-D')
        ? [word]
        : [],
  );
  if (taken.length === 0) throw new Error(`could not read zig's compiler arguments:\n${stderr}`);
  const sys = join(toolchainLink, 'sys', 'usr');
  const venv = join(toolchainLink, 'venv');
  const dependencies = [
    join(sys, 'include'),
    join(sys, 'include/x86_64-linux-gnu'),
    join(venv, 'include'),
    join(venv, 'site-packages/nvidia/cu13/include'),
    join(sys, 'src/googletest/googletest/include'),
    join(sys, 'src/googletest/googlemock/include'),
    join(cudaLink, 'cu13/include'),
    join(cudaLink, 'cudnn/include'),
    join(cudaLink, 'nccl/include'),
  ];
  return [
    '-std=c++20',
    '-target',
    'x86_64-linux-gnu',
    '-mavx2',
    '-mfma',
    '-nostdlibinc',
    '-nostdinc++',
    ...taken,
    ...dependencies.flatMap((path) => ['-isystem', path]),
    `-I${join(root, 'native')}`,
    '-DJSON_HAS_THREE_WAY_COMPARISON=0', // as native/cmake/dependencies.cmake has it
    '-DTRAINYARD_FIXTURES=""',
    '-DTRAINYARD_CUDA_ABI=""',
    '-DTRAINYARD_CUDA_TARGETS="sm_90"',
    '-DTRAINYARD_CUDA_KERNELS=""',
  ];
}

/**
 * One file that includes `paths`, so that their headers are read once.
 * @param {readonly string[]} paths
 */
function together(paths) {
  const name = createHash('sha256').update(paths.join('\n')).digest('hex').slice(0, 16);
  const file = join(build, 'tidy', `${name}.cpp`);
  mkdirSync(join(build, 'tidy'), { recursive: true });
  /** @param {string} path */
  const line = (path) => `#include "${join(root, path)}"  // NOLINT(bugprone-suspicious-include)\n`;
  writeFileSync(file, paths.map(line).join(''));
  return file;
}

/**
 * @param {readonly string[]} paths
 * @param {readonly string[]} args
 * @returns {Promise<{ ok: boolean, text: string }>}
 */
function tidy(paths, args) {
  const [first, ...others] = paths;
  const file = first !== undefined && others.length === 0 ? join(root, first) : together(paths);
  return new Promise((resolve) => {
    const child = spawn(
      join(toolchainLink, 'venv/bin/clang-tidy'),
      ['--quiet', `--config-file=${join(root, 'native/.clang-tidy')}`, file, '--', ...args],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('close', (code) => resolve({ ok: code === 0, text }));
  });
}

const mostTogether = 16;

/**
 * What a file defines at the left edge, by name; members of a class are none of it. Files that
 * define the same name cannot be read as one.
 * @param {string} path
 */
function namesIn(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const definitions = text.matchAll(
    /^(?!namespace|return)(?:\[\[\w+\]\] )?[a-z][^\n(={;]*?[\s*&>](\w+)(?:\[\w*\])?(?=\(|\s*[={])/gm,
  );
  return new Set(Array.from(definitions, ([, name = '']) => name));
}

/**
 * Each file goes into the first group that has room and none of its names. One that hides a name of
 * a header is read by itself.
 * @param {readonly string[]} paths
 */
function groupsOf(paths) {
  const ofHeaders = new Set(listed(/\.h$/).flatMap((path) => [...namesIn(path)]));
  /** @type {string[][]} */
  const alone = [];
  /** @type {{ files: string[], names: Set<string> }[]} */
  const groups = [];
  for (const path of paths) {
    const names = [...namesIn(path)];
    if (names.some((name) => ofHeaders.has(name) && /^k[A-Z]/.test(name))) {
      alone.push([path]);
      continue;
    }
    let group = groups.find(
      ({ files, names: taken }) => files.length < mostTogether && !names.some((name) => taken.has(name)),
    );
    if (!group) groups.push((group = { files: [], names: new Set() }));
    group.files.push(path);
    for (const name of names) group.names.add(name);
  }
  return [...groups.map(({ files }) => files), ...alone];
}

/** A change is some commits long, and what came before passed when it came. */
const recentCommits = 20;

/**
 * Those of `paths` that the newest commits or the working tree changed, or that include a header
 * that these changed; all where the checks changed.
 * @param {readonly string[]} paths
 */
function recent(paths) {
  const inCommits = ['log', `-${recentCommits}`, '--name-only', '--pretty=', '--', 'native'];
  const inTree = ['status', '--porcelain', '--no-renames', '-uall', '--', 'native'];
  const [commits = '', tree = ''] = [inCommits, inTree].map((words) => {
    const { ok, stdout, stderr } = capture('git', words, { cwd: root });
    if (!ok) throw new Error(`git does not say what changed: ${stderr.trim()}\nRun this without --recent.`);
    return stdout;
  });
  const changed = new Set([...commits.split('\n'), ...tree.split('\n').map((line) => line.slice(3))]);
  if (changed.has('native/.clang-tidy')) return paths;
  /** @param {string} path */
  const included = (path) =>
    Array.from(
      readFileSync(join(root, path), 'utf8').matchAll(/^#include "([^"]+)"/gm),
      ([, header = '']) => `native/${header}`,
    );
  return paths.filter((path) => changed.has(path) || included(path).some((header) => changed.has(header)));
}

main(async () => {
  const headers = listed(/\.h$/);
  const toolchain = ensureToolchain();
  const common = createHash('sha256').update(toolchain);
  for (const path of [...headers, 'native/.clang-tidy', 'scripts/native/tidy.mjs'])
    common.update(readFileSync(join(root, path)));
  const base = common.digest('hex');
  const passed = join(cache, 'tidy');
  mkdirSync(passed, { recursive: true });
  /** @param {string} path */
  const marker = (path) =>
    join(
      passed,
      createHash('sha256')
        .update(base)
        .update(path)
        .update(readFileSync(join(root, path)))
        .digest('hex')
        .slice(0, 32),
    );
  const only = process.argv.slice(2).filter((word) => word !== '--recent');
  const unread = listed(/\.cpp$/).filter(
    (path) =>
      !path.startsWith('native/tests/') &&
      (only.length === 0 || only.some((part) => path.includes(part))) &&
      !existsSync(marker(path)),
  );
  const waiting = process.argv.includes('--recent') ? recent(unread) : unread;
  const left = unread.length - waiting.length;
  if (left > 0) step(`clang-tidy: ${left} files did not change lately, and are left for a run without --recent`);
  if (waiting.length === 0) return;
  if (waiting.some((path) => path.includes('/cuda/library/'))) ensureCudaToolkit();
  step(`clang-tidy on ${waiting.length} files`);
  const args = compilerArguments();
  const groups = groupsOf(waiting);
  let bad = 0;
  const worker = async () => {
    for (let group = groups.shift(); group; group = groups.shift()) {
      const { ok, text } = await tidy(group, args);
      if (ok) {
        for (const path of group) writeFileSync(marker(path), '');
        continue;
      }
      if (group.length > 1) {
        const half = Math.ceil(group.length / 2);
        groups.push(group.slice(0, half), group.slice(half));
        continue;
      }
      bad += 1;
      process.stdout.write(text);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  if (bad > 0) throw new Error(`clang-tidy found something in ${bad} files`);
});

// The compiler and libraries of the native parts, kept in the user's cache and used through
// build/toolchain. Nothing here needs root; what only apt can bring is asked of it when it can be,
// or named.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build, cache, root, toolchainLink } from '../lib/paths.mjs';
import { capture, has, run, step } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';
import { madeOnce } from './madeOnce.mjs';
import { pipInstall } from './pip.mjs';

const requirements = join(root, 'scripts/requirements/toolchain.txt');
/**
 * Header-only or static C libraries (Debian's static C++ ones would need too new a glibc), and
 * gtest's source.
 */
const debianPackages = [
  'libturbojpeg0-dev',
  'libjpeg62-turbo-dev|libjpeg-turbo8-dev',
  'libpng-dev',
  'zlib1g-dev',
  'nlohmann-json3-dev',
  'libcli11-dev',
  'libprotozero-dev',
  'googletest',
];
const systemPackages = [
  { package: 'python3', present: () => has('python3') },
  { package: 'python3-venv', present: () => capture('python3', ['-c', 'import ensurepip, venv']).ok },
  { package: 'libgomp1', present: () => libgomp() !== undefined },
];

function libgomp() {
  const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib/x86_64-linux-gnu'];
  return folders.map((folder) => join(folder, 'libgomp.so.1')).find((path) => existsSync(path));
}

function ensureAptLists() {
  if (capture('apt-cache', ['show', 'nlohmann-json3-dev']).stdout !== '') return;
  if (process.getuid?.() === 0) run('apt-get', ['update', '-q'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Its path, after ensureSystemPackages has seen to it. */
function libgompPath() {
  const path = libgomp();
  if (path === undefined) throw new Error('libgomp.so.1 was not found. Install the package libgomp1.');
  return path;
}

/** @param {string} target */
function unpackDebianPackages(target) {
  const folder = join(target, 'debs');
  mkdirSync(folder, { recursive: true });
  ensureAptLists();
  for (const alternatives of debianPackages) {
    const taken = alternatives
      .split('|')
      .some((name) => capture('apt-get', ['download', '-q', name], { cwd: folder }).ok);
    if (!taken)
      throw new Error(
        `apt-get download ${alternatives} failed. Check that apt's lists are present (sudo apt-get update).`,
      );
  }
  for (const deb of readdirSync(folder)) run('dpkg', ['-x', join(folder, deb), join(target, 'sys')]);
  rmSync(folder, { recursive: true });
}

/**
 * CMake wants one program as a compiler; zig is one program with verbs.
 * @param {string} target
 * @param {string} final
 */
function writeZigWrappers(target, final) {
  const folder = join(target, 'zig');
  mkdirSync(folder, { recursive: true });
  for (const verb of ['cc', 'c++', 'ar', 'ranlib']) {
    const path = join(folder, verb);
    writeFileSync(path, `#!/bin/sh\nexec "${final}/venv/zig/zig" ${verb} "$@"\n`);
    chmodSync(path, 0o755);
  }
}

/** @param {string} library */
function pythonFolder(library) {
  const name = readdirSync(library).find((entry) => entry.startsWith('python'));
  if (name === undefined) throw new Error(`${library} has no folder of Python's. Remove the folder above it and try again.`);
  return name;
}

/**
 * @param {string} temporary where it is made
 * @param {string} final where it will be
 */
function fillToolchain(temporary, final) {
  step('toolchain: compiler, CMake, MPICH, oneDNN (about 500 MB on disk, once)');
  run('python3', ['-m', 'venv', join(temporary, 'venv')]);
  pipInstall({ python: join(temporary, 'venv/bin/python'), requirements, folder: temporary });
  const packages = join('lib', pythonFolder(join(temporary, 'venv/lib')), 'site-packages');
  symlinkSync(join(packages, 'ziglang'), join(temporary, 'venv/zig'));
  symlinkSync(packages, join(temporary, 'venv/site-packages'));
  step('toolchain: header-only and static libraries');
  unpackDebianPackages(temporary);
  writeZigWrappers(temporary, final);
  symlinkSync(libgompPath(), join(temporary, 'libgomp.so.1'));
  relocateVenv(temporary, final);
}

/**
 * A venv's scripts name its own absolute path. From here on they work at `to` alone.
 * @param {string} from where it is
 * @param {string} to where it will be
 */
function relocateVenv(from, to) {
  const bin = join(from, 'venv/bin');
  for (const name of readdirSync(bin)) {
    const path = join(bin, name);
    if (!lstatSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    if (bytes.subarray(0, 2).toString() !== '#!') continue;
    writeFileSync(path, bytes.toString('utf8').replaceAll(from, to));
  }
}

/**
 * Makes the toolchain when it is not in the cache, and points build/toolchain at it. Returns its
 * folder.
 */
export function ensureToolchain() {
  ensureSystemPackages(systemPackages);
  const hash = createHash('sha256')
    .update(readFileSync(requirements))
    .update(debianPackages.join())
    .update('3')
    .digest('hex')
    .slice(0, 16);
  const folder = join(cache, 'toolchain', hash);
  madeOnce(folder, (temporary) => fillToolchain(temporary, folder));
  mkdirSync(build, { recursive: true });
  rmSync(toolchainLink, { force: true });
  symlinkSync(folder, toolchainLink);
  return folder;
}

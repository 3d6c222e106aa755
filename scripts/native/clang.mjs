// Debian's clang, for builds that watch themselves as they run: zig's brings neither libFuzzer nor
// the sanitizers' runtimes.
import { messageOf } from '../lib/errors.mjs';
import { capture, has } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';

/** What this machine lacks, and cannot be given without a person. */
export class Missing extends Error {}

/**
 * The newest clang++ that has these runtime libraries (`asan`, `tsan`, `fuzzer`), or nothing.
 * @param {readonly string[]} runtimes
 */
function clang(runtimes) {
  const names = ['clang++', ...Array.from({ length: 9 }, (_, i) => `clang++-${22 - i}`)];
  /** @param {string} name */
  const whole = (name) =>
    runtimes.every((part) => {
      const { ok, stdout } = capture(name, [`--print-file-name=libclang_rt.${part}-x86_64.a`]);
      return ok && stdout.trim().startsWith('/');
    });
  return names.find((name) => has(name) && whole(name));
}

/**
 * The compiler's name. Throws Missing where there is none and none can be installed.
 * @param {readonly string[]} runtimes
 */
export function ensureClang(runtimes) {
  const found = clang(runtimes);
  if (found) return found;
  const newest = [22, 21, 20, 19, 18, 17, 16, 15, 14].find(
    (version) => capture('apt-cache', ['show', `libclang-rt-${version}-dev`]).ok,
  );
  const version = newest ?? 14;
  try {
    ensureSystemPackages([
      { package: `clang-${version}`, present: () => false },
      { package: `libclang-rt-${version}-dev`, present: () => false },
      { package: 'g++', present: () => has('g++') },
    ]);
  } catch (error) {
    throw new Missing(messageOf(error));
  }
  const made = clang(runtimes);
  if (!made)
    throw new Missing(
      `no clang with ${runtimes.join(' and ')}. Install clang-${version} and libclang-rt-${version}-dev.`,
    );
  return made;
}

/**
 * The C compiler that belongs to a C++ one.
 * @param {string} compiler
 */
export const cCompiler = (compiler) => compiler.replace('++', '');

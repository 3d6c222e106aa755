// Objects that were compiled before, in any clone on this machine. Debian's ccache keeps them in the
// user's cache folder. Without ccache everything is compiled, as on a machine's first build.
import { join } from 'node:path';
import { cache, root } from '../lib/paths.mjs';
import { capture, has } from '../lib/shell.mjs';

/** What all compiled objects of this machine may take on disk. */
const most = '4G';

/**
 * The words that put ccache in front of a compiler; none where ccache is missing. Paths below this
 * clone count as relative ones, so that clones share their objects. Where ccache is missing and this
 * is root, apt brings it; where apt cannot, the build goes on without.
 * @param {readonly string[]} settings more variables of ccache
 * @returns {string[]}
 */
export function compilerCache(settings = []) {
  if (!has('ccache') && process.getuid?.() === 0 && has('apt-get')) {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    capture('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'ccache'], options);
  }
  if (!has('ccache')) return [];
  return [
    'env',
    `CCACHE_DIR=${join(cache, 'ccache')}`,
    `CCACHE_BASEDIR=${root}`,
    'CCACHE_NOHASHDIR=1',
    `CCACHE_MAXSIZE=${most}`,
    // By the headers that a compiler names. Otherwise ccache preprocesses everything beforehand,
    // and nvcc does that for the first of several GPUs alone.
    'CCACHE_DEPEND=1',
    ...settings,
    'ccache',
  ];
}

/**
 * Words for CMake that put ccache in front of the compilers.
 * @returns {string[]}
 */
export function compilerCacheWords() {
  const settings = [
    'CCACHE_COMPILERTYPE=clang', // ccache tells by a compiler's name, and ours is called c++
    'CCACHE_SLOPPINESS=pch_defines,time_macros', // as ccache's manual says of precompiled headers
  ];
  const launcher = compilerCache(settings).join(';');
  return ['C', 'CXX'].map((language) => `-DCMAKE_${language}_COMPILER_LAUNCHER=${launcher}`);
}

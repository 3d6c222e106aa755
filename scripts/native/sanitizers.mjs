// npm run test:sanitizers -- [address|thread] [test_NAME…] [--gtest_filter=…]: the native tests
// under AddressSanitizer with UndefinedBehaviorSanitizer, and those with threads or processes of
// their own under ThreadSanitizer. A report of any process that a test starts is a failure. Without
// a clang that has the sanitizers they are skipped, with the reason.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Missing, ensureClang } from './clang.mjs';
import { added, none } from '../lib/counts.mjs';
import { root } from '../lib/paths.mjs';
import { buildSanitized, runSanitized } from './sanitized.mjs';
import { main } from '../lib/shell.mjs';
import { ensureToolchain } from './toolchain.mjs';

/** @import { Sanitizer } from './sanitized.mjs' */

/** @type {readonly Sanitizer[]} */
const sanitizers = ['address', 'thread'];

/** Every test program but those that want CUDA's own library. */
function programs() {
  const tests = join(root, 'native', 'tests');
  const texts = readdirSync(tests, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['cuda', 'fixtures', 'sanitizers'].includes(entry.name))
    .map(({ name }) => readFileSync(join(tests, name, 'CMakeLists.txt'), 'utf8'));
  return texts
    .flatMap((text) => [...text.matchAll(/^trainyard_test\((\w+)/gm)].map(([, name = '']) => name))
    .sort();
}

/**
 * What ThreadSanitizer is for: the agent, the loader, the ranks' sums. The rest computes in
 * libgomp's threads.
 */
const threaded = ['test_agent', 'test_comm', 'test_common', 'test_data', 'test_strategies'];

main(async () => {
  const given = process.argv.slice(2);
  const words = given.filter((word) => word.startsWith('--gtest_'));
  const all = programs();
  const plans = { address: all, thread: threaded };
  const kinds = sanitizers.filter((kind) => given.includes(kind));
  const named = given.filter((word) => all.includes(word));
  for (const word of given)
    if (![...words, ...sanitizers, ...named].includes(word))
      throw new Error(
        `no sanitizer or program '${word}'. There are: ${[...sanitizers, ...all].join(', ')}`,
      );
  let sum = none;
  ensureToolchain();
  for (const kind of kinds.length > 0 ? kinds : sanitizers) {
    const names = plans[kind].filter((name) => named.length === 0 || named.includes(name));
    try {
      const binaries = buildSanitized(kind, ensureClang([kind === 'thread' ? 'tsan' : 'asan']), names);
      const counts = await runSanitized(kind, binaries, names, words);
      sum = added(sum, counts);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      process.stdout.write(`  ${kind}: skipped: ${error.message}\n`);
      sum = added(sum, { ...none, skipped: names.length });
    }
  }
  process.stdout.write(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
  if (sum.failed > 0 || sum.passed === 0) process.exitCode = 1;
});

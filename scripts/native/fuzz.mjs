// npm run fuzz -- [NAME…] [--seconds N] [--counts FILE]: the fuzz targets, 60 seconds each unless
// told otherwise. What they find is kept in build/fuzz. Exits 1 when one ends in a crash, a leak, a
// sanitizer's report or a hang.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Missing } from './clang.mjs';
import { buildFuzzers, runFuzzers, targets } from './fuzzers.mjs';
import { none } from '../lib/counts.mjs';
import { main } from '../lib/shell.mjs';

/** @import { Counts } from '../lib/counts.mjs' */

main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: 'string', default: '60' }, counts: { type: 'string' } },
  });
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error('--seconds takes a whole number above 0');
  for (const name of positionals)
    if (!targets.includes(name)) throw new Error(`no fuzz target '${name}'. Targets: ${targets.join(', ')}`);
  const names = positionals.length > 0 ? positionals : targets;
  /** @param {Counts} counts */
  const write = (counts) => values.counts && writeFileSync(values.counts, JSON.stringify(counts));
  try {
    buildFuzzers();
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    write({ ...none, skipped: names.length });
    throw new Error(`fuzz targets skipped: ${error.message}`, { cause: error });
  }
  const counts = await runFuzzers(names, seconds);
  write(counts);
  if (counts.failed > 0) process.exitCode = 1;
});

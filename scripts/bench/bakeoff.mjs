// npm run bench:bakeoff: `trainyard report bakeoff` beside an exhaustive search of the same
// candidates, in the set-ups of bench:bottleneck. Prints the time of both, and how many images/s of the best of
// the exhaustive search the bake-off's winner makes there; fails below 97%, or above a quarter of the
// time. Needs two quiet cores, and root for the shaped link. Names after -- choose set-ups;
// BENCH_MINUTES is the time of the exhaustive search.
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { eachSetUp, report } from './setUps.mjs';

/** @import { SetUp } from './setUps.mjs' */
/**
 * @typedef {{ name: string, outcome: string, imagesPerSec: { median: number } | null }} Candidate
 * @typedef {{ spent: number, candidates: Candidate[] }} Result
 */

const minutes = Number(process.env['BENCH_MINUTES'] ?? 8);
/** A quarter, without what the last start and the pages take. */
const part = 0.235;

/** @param {Result} result */
const winnerOf = ({ candidates }) => candidates.find(({ outcome }) => outcome === 'won');

/**
 * @param {SetUp} setUp
 * @param {string} folder
 */
async function compare(setUp, folder) {
  /**
   * @param {string} name
   * @param {readonly string[]} flags
   * @returns {Promise<Result>}
   */
  const bakeOff = (name, flags) => {
    const all = ['--replicas', setUp.replicas, ...flags];
    return report(setUp, join(folder, `${setUp.name}-${name}`), 'bakeoff', all);
  };
  const all = await bakeOff('all', ['--rounds', '1', '--minutes', String(minutes)]);
  const short = await bakeOff('short', ['--minutes', String((part * all.spent) / 60)]);
  const best = winnerOf(all);
  const found = winnerOf(short);
  const there = all.candidates.find(({ name }) => name === found?.name);
  if (!best?.imagesPerSec || !found || !there?.imagesPerSec) throw new Error(`${setUp.name}: nothing won`);
  const rate = there.imagesPerSec.median / best.imagesPerSec.median;
  const time = short.spent / all.spent;
  const right = rate >= 0.97 && time <= 0.25;
  const measured = all.candidates.filter(({ imagesPerSec }) => imagesPerSec !== null).length;
  process.stdout.write(
    `${setUp.name}: ${right ? 'right' : 'WRONG'}; ${(100 * rate).toFixed(1)}% of the best images/s in ${(100 * time).toFixed(1)}% of the time (${short.spent.toFixed(0)} of ${all.spent.toFixed(0)} s, ${measured} candidates); load ${loadavg()[0]?.toFixed(1) ?? ''}\n  exhaustive: ${best.name}, ${best.imagesPerSec.median.toFixed(1)} images/s\n  bake-off: ${found.name}, ${there.imagesPerSec.median.toFixed(1)} images/s there\n`,
  );
  if (!right) process.exitCode = 1;
}

main(async () => {
  ensureBuilt();
  await eachSetUp(process.argv.slice(2), compare);
});

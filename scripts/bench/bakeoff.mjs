// npm run bench:bakeoff: `trainyard report bakeoff` beside an exhaustive search of the same
// candidates, in the set-ups of bench:bottleneck. Prints the time of both, and how many images/s the
// bake-off's winner makes of what the best of the exhaustive search makes. Where these two differ,
// each is run three times more, in turn, since a machine's speed changes over minutes. Fails below
// 97%, or above a quarter of the time. Needs two quiet cores, and root for the shaped link. Names
// after -- choose set-ups; BENCH_MINUTES is the time of the exhaustive search.
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { cli, eachSetUp, report } from './support/setUps.mjs';
import { median } from './support/statistics.mjs';

/** @import { SetUp } from './support/setUps.mjs' */
/**
 * @typedef {{ name: string, outcome: string, command: string, runs: { steps: number, seconds: number }[], imagesPerSec: { median: number } | null }} Candidate
 * @typedef {{ spent: number, candidates: Candidate[] }} Result
 */

const minutes = Number(process.env['BENCH_MINUTES'] ?? 8);
/** A quarter, without what the last start and the pages take. */
const part = 0.235;

/** Of each run of two that are compared: how many there are, and seconds. */
const pairs = 3;
const pairedSeconds = 12;

/** @param {Result} result */
const winnerOf = ({ candidates }) => candidates.find(({ outcome }) => outcome === 'won');

/**
 * Images/s of a run with a candidate's settings: the median of its steps without the first fifth.
 * @param {SetUp} setUp
 * @param {string} home
 * @param {Candidate} candidate
 */
async function rateOf(setUp, home, { command, runs }) {
  const { steps = 0, seconds = 1 } = runs.at(-1) ?? {};
  const words = command.split(' ').slice(1);
  words.splice(1, 0, '--json');
  words.push('--steps', String(Math.ceil((pairedSeconds * steps) / seconds)), '--log-every', '1');
  const lines = (await cli(setUp, home, words))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rates = lines
    .filter(({ type, line }) => type === 'metric' && line.kind === 'step')
    .map(({ line }) => line.images_per_sec);
  return median(rates.slice(Math.floor(rates.length / 5)));
}

/**
 * How much of the second one's images/s the first one makes.
 * @param {SetUp} setUp
 * @param {string} home
 * @param {Candidate} found
 * @param {Candidate} best
 */
async function paired(setUp, home, found, best) {
  if (found.name === best.name) return 1;
  const ratios = [];
  for (let pair = 0; pair < pairs; pair++) {
    const first = await rateOf(setUp, home, found);
    ratios.push(first / (await rateOf(setUp, home, best)));
  }
  return median(ratios);
}

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
  if (!best?.imagesPerSec || !found) throw new Error(`${setUp.name}: nothing won`);
  const rate = await paired(setUp, join(folder, `${setUp.name}-paired`), found, best);
  const time = short.spent / all.spent;
  const right = rate >= 0.97 && time <= 0.25;
  const measured = all.candidates.filter(({ imagesPerSec }) => imagesPerSec !== null).length;
  process.stdout.write(
    `${setUp.name}: ${right ? 'right' : 'WRONG'}; ${(100 * rate).toFixed(1)}% of the best images/s in ${(100 * time).toFixed(1)}% of the time (${short.spent.toFixed(0)} of ${all.spent.toFixed(0)} s, ${measured} candidates); load ${loadavg()[0]?.toFixed(1) ?? ''}\n  exhaustive: ${best.name}, ${best.imagesPerSec.median.toFixed(1)} images/s\n  bake-off: ${found.name}, ${there?.imagesPerSec?.median.toFixed(1) ?? 'no'} images/s there\n`,
  );
  if (!right) process.exitCode = 1;
}

main(async () => {
  ensureBuilt();
  await eachSetUp(process.argv.slice(2), compare);
});

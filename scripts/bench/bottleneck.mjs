// npm run bench:bottleneck: set-ups that are made to have one bottleneck each, measured by
// `trainyard report scaling` with real runs; prints what each is named, and fails where a name is
// wrong. Needs two quiet cores, and root for the shaped link. Names after -- choose set-ups.
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { eachSetUp, report } from './support/setUps.mjs';

/** @import { SetUp } from './support/setUps.mjs' */
/**
 * @typedef {{ bottleneck: { kind: string, words: string } | null, efficiency: { replicas: number, efficiency: { median: number } }[] }} Derived
 */

/**
 * @param {SetUp} setUp
 * @param {string} folder
 */
async function name(setUp, folder) {
  const steps = process.env['BENCH_STEPS'] ?? '40';
  const flags = ['--weak', '--replicas', setUp.replicas, '--steps', steps, '--remove-runs'];
  /** @type {{ report: Derived }} */
  const measured = await report(setUp, join(folder, setUp.name), 'scaling', flags);
  const { bottleneck, efficiency } = measured.report;
  const kind = bottleneck?.kind ?? 'nothing';
  const last = efficiency.at(-1);
  const right = kind === setUp.expected && (setUp.words?.test(bottleneck?.words ?? '') ?? true);
  process.stdout.write(
    `${setUp.name}: ${kind}${right ? ', right' : `, WRONG: it is ${setUp.expected}${setUp.words ? `, ${setUp.words.source}` : ''}`}; efficiency ${(100 * (last?.efficiency.median ?? 0)).toFixed(0)}% at ${last?.replicas ?? 0}; load ${loadavg()[0]?.toFixed(1) ?? ''}\n  ${bottleneck?.words ?? ''}\n`,
  );
  if (!right) process.exitCode = 1;
}

main(async () => {
  ensureBuilt();
  await eachSetUp(process.argv.slice(2), name);
});

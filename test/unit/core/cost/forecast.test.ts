// What a run comes to, said when half of its steps are made, beside what it came to: recorded runs
// of the real trainer (each file of test/fixtures/forecast names the command that made it).
import { expect, it } from 'vitest';
import { costOf } from '../../../../src/core/cost/runCost.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { recordedNames, recordedRun, type Recorded } from '../../support/recordedRuns.js';

/** As the run's files were when half of the steps were made. */
function forecast({ price, started, metrics }: Recorded): { seconds: number; cost: number } {
  const read = new RunMetrics();
  let now = started;
  for (const line of metrics) {
    read.add(line);
    now = line.time;
    if ((read.progress.fraction ?? 0) >= 0.5) break;
  }
  const { progress, secondsLeft, secondsPerStep } = read;
  const pace = { ...progress, over: false, secondsLeft, secondsPerStep };
  const run = { price, nodes: undefined, gpus: undefined, earlier: undefined };
  const cost = costOf(run, { started, ended: null, updated: now }, pace);
  return { seconds: now - started + (secondsLeft ?? NaN), cost: cost?.atEnd ?? NaN };
}

const rows = recordedNames.map((name) => {
  const run = recordedRun(name);
  const said = forecast(run);
  const seconds = run.ended - run.started;
  const cost = (run.price.amount * seconds) / 3600;
  const errors = { seconds: said.seconds / seconds - 1, cost: said.cost / cost - 1 };
  return { name, seconds, errors };
});

it('is within 10% of the end, for 9 of 10 runs', () => {
  for (const { name, seconds, errors } of rows) {
    const percent = (error: number): string => `${error < 0 ? '' : '+'}${(100 * error).toFixed(1)}%`;
    process.stdout.write(
      `| ${name} | ${seconds.toFixed(1)} s | ${percent(errors.seconds)} | ${percent(errors.cost)} |\n`,
    );
  }
  expect(rows).toHaveLength(10);
  for (const of of ['seconds', 'cost'] as const) {
    const held = rows.filter(({ errors }) => Math.abs(errors[of]) < 0.1);
    expect(held.length).toBeGreaterThanOrEqual(9);
  }
});

// What a sweep says on the terminal, and with --json.
import { resolve } from 'node:path';
import { exitCodes } from '../../core/base/errors.js';
import { plural } from '../../core/base/plural.js';
import { sweepPage } from '../../core/measure/sweepFolder.js';
import { sweepNotes, trialTable, verdictSentence } from '../../core/sweep/pages.js';
import { bestTrial, countOf, ranked, trialText, type Sweep, type Trial } from '../../core/sweep/record.js';
import type { Context } from '../context.js';
import { table } from '../format.js';
import type { Output } from '../output.js';

/** How a sweep that ended before its time goes on, and which of its runs do. */
export function showLeft(output: Output, { trials }: Sweep, folder: string): void {
  for (const { status, run } of trials) {
    if (status !== 'running' || !run) continue;
    output.note(`${run.id} goes on; stop it with: trainyard stop ${run.id}`);
  }
  output.note(`go on with: trainyard sweep --resume ${folder}`);
}

/** What was started, and goes on without anybody. Returns the exit code. */
export function showDetached({ output, json }: Context, sweep: Sweep, folder: string): number {
  const { trials } = sweep;
  const failed = countOf(sweep, 'failed');
  if (json) {
    for (const trial of trials) output.json(trialRecord(trial));
  } else {
    output.line(
      `${plural(countOf(sweep, 'running'), 'trial')} of ${trials.length} go on without this command`,
    );
    for (const trial of trials.filter(({ status }) => status === 'failed')) {
      const what = trial.run ? 'failed' : 'could not be started';
      output.note(`${trialText(trial)} ${what}: ${trial.why}`);
    }
    output.line(`attach  trainyard sweep --resume ${folder}`);
    output.line(`stop    trainyard sweep --stop ${folder}`);
  }
  return failed > 0 ? exitCodes.failed : exitCodes.done;
}

export function showSweep({ output, json }: Context, sweep: Sweep, folder: string): void {
  const { name, metric, trials, cancelled } = sweep;
  const best = bestTrial(sweep);
  if (cancelled) showLeft(output, sweep, folder);
  if (json) {
    for (const trial of ranked(sweep)) output.json(trialRecord(trial));
    output.json({
      ...{ type: 'sweep', folder, name, metric: metric.name, goal: metric.goal },
      ...{ best: best?.number ?? null, command: best?.command ?? null },
      ...{ trials: trials.length, finished: countOf(sweep, 'finished'), failed: countOf(sweep, 'failed') },
      ...{ pruned: countOf(sweep, 'pruned'), cancelled },
    });
    return;
  }
  const { head, rows, right } = trialTable(sweep);
  const heads = head.map((title) => title.toUpperCase());
  for (const line of table(heads, rows, right)) output.line(line);
  output.line('');
  output.line(verdictSentence(sweep));
  if (best) output.line(`again   ${best.command}`);
  for (const note of sweepNotes(sweep)) output.note(note);
  output.line(`report  ${resolve(folder, sweepPage)}`);
}

const trialRecord = ({ run, imagesPerSec: images_per_sec, ...trial }: Trial) => {
  const { number, name, values, status, why, best, last, seconds, cost, currency, command } = trial;
  return {
    ...({ type: 'sweep-trial', number, name, values, status, why, best, last, images_per_sec } as const),
    ...{ seconds, cost, currency, id: run?.id ?? null, dir: run?.dir ?? null, command },
  };
};

import { exitCodes, UserError } from '../../core/base/errors.js';
import { compareRuns, type Comparison } from '../../core/compare/comparison.js';
import type { ComparedRun } from '../../core/compare/comparedRun.js';
import { csvOf, markdownOf, recordsOf } from '../../core/compare/exports.js';
import { CompareReader } from '../../core/follow/compareReader.js';
import { trainHelp } from '../../core/plan/request/flagCheck.js';
import { comparisonLines, withDefaults, type KnownTrainer } from '../comparisonTable.js';
import type { Args } from '../args.js';
import { accuracyOf } from '../accuracy.js';
import type { Context, Verb } from '../context.js';

const usualWidth = 100;

export const compare: Verb = {
  verb: 'compare',
  summary: 'shows runs beside each other: settings that differ, figures, times and prices',
  words: ['RUN', 'RUN…'],
  flags: [
    { name: 'accuracy', value: 'A', help: 'what time and price it took to reach top-1 of A, say 80%' },
    { name: 'csv', help: 'comma-separated values, a run a line' },
    { name: 'markdown', help: 'a table for a document, a run a row', alternative: true },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default each the profile that started it here, else local',
    },
  ],
  details: [
    'Runs of several profiles can be compared. The default of --accuracy is the highest whole percent that all compared runs with evaluations reached.',
  ],
  async run(context, args) {
    const write = writerOf(args, context.json);
    const accuracy = accuracyOf(args.value('accuracy'));
    const reader = new CompareReader();
    const runs: ComparedRun[] = [];
    const seen = new Set<string>();
    for (const { profile, entry, node } of await context.resolveRuns(args)) {
      if (seen.has(`${profile} ${entry.dir}`)) {
        throw new UserError('usage', `${entry.id} is named twice`, 'Name each run once');
      }
      seen.add(`${profile} ${entry.dir}`);
      runs.push(await reader.read(await node.client(), profile, entry));
    }
    const comparison = compareRuns(runs, accuracy);
    if (write) context.output.bytes(Buffer.from(write(comparison)));
    else if (context.json) for (const record of recordsOf(comparison)) context.output.json(record);
    else {
      const trainer = await trainerOf(context);
      const shown = trainer ? withDefaults(comparison, trainer) : comparison;
      for (const line of comparisonLines(shown, context.output.width ?? usualWidth)) {
        context.output.line(line);
      }
    }
    return exitCodes.done;
  },
};

/** Of this machine; undefined where nothing can be asked. */
async function trainerOf({ trainerHere }: Context): Promise<KnownTrainer | undefined> {
  const help = await trainerHere.runTrainerIfThere(trainHelp);
  if (help === undefined) return undefined;
  const { hashes } = await trainerHere.runtime();
  return { hash: hashes.trainer.slice(0, 12), help };
}

function writerOf(args: Args, json: boolean): ((comparison: Comparison) => string) | undefined {
  const asked = ['csv', 'markdown'].filter((flag) => args.has(flag));
  if (asked.length + (json ? 1 : 0) > 1) {
    throw new UserError(
      'usage',
      'more than one form was asked for',
      'Use one of --json, --csv and --markdown',
    );
  }
  if (args.has('csv')) return csvOf;
  return args.has('markdown') ? markdownOf : undefined;
}

import { exitCodes, oneLine, UserError } from '../../../core/base/errors.js';
import { checkpointChoice, chooseCheckpoint } from '../../../core/checkpoints/choose.js';
import { classNamesOf } from '../../../core/checkpoints/classNames.js';
import { mistakesOf, type Mistakes } from '../../../core/checkpoints/mistakes.js';
import { predictPictures, type Prediction } from '../../../core/checkpoints/predict.js';
import { mistakesOfTable } from '../../../core/checkpoints/predictionTable.js';
import type { Context, Verb } from '../../context.js';
import { percentText } from '../../format.js';
import { mistakeLines } from '../../mistakeTables.js';

export const predict: Verb = {
  verb: 'predict',
  summary: 'classifies image files of this machine with a checkpoint',
  words: ['RUN', 'FILE…'],
  flags: [
    { name: 'step', value: 'STEP', help: 'a step, latest or best; by default latest' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'JPEG and PNG files are copied to the node that has the run, for as long as it takes. It computes on the CPU there: with all cores, or with one thread while the run is under way.',
    'Pictures in folders that are named after classes count: the classes that it knows least, what it takes them for, and the wrong pictures of which it is surest are printed at the end.',
    'The CSV that trainer predict wrote for class folders may stand in place of pictures: then its rows are counted, and nothing is computed.',
    'Exits 5 when a file could not be read as a picture; the others are shown all the same.',
    'Example: trainyard predict resnet50-0412 --step best tulip.jpg rose.jpg',
  ],
  async run(context, args) {
    const choice = checkpointChoice(args.value('step') ?? 'latest');
    const files = args.words.slice(1);
    const table = tableAmong(files);
    const entry = await context.resolveRun(args);
    const client = await context.node.client();
    const checkpoint = await chooseCheckpoint(client, entry, choice);
    const classNames = await classNamesOf(client, entry, checkpoint);
    if (table !== undefined) {
      say(context, entry.id, null, await mistakesOfTable(table, classNames));
      return exitCodes.done;
    }
    const predictions = await context.withProgress((progress) =>
      predictPictures(context.machine, entry, checkpoint, files, { ...progress, logger: context.logger }),
    );
    for (const each of predictions) {
      if (context.json) {
        context.output.json({ type: 'prediction', id: entry.id, step: checkpoint.step, ...each });
      } else {
        context.output.line(predictionLine(each));
      }
    }
    const mistakes = mistakesOf(predictions, classNames);
    if (mistakes) {
      if (!context.json) context.output.line('');
      say(context, entry.id, checkpoint.step, mistakes);
    }
    return predictions.some(({ top5 }) => top5.length === 0) ? exitCodes.failed : exitCodes.done;
  },
};

/** A picture and its likeliest classes, as a line of the terminal. */
export function predictionLine({ file, top5 }: Prediction): string {
  const classes = top5.map((each) => `${each.class} ${percentText(each.probability)}`);
  return oneLine(`${file}: ${classes.join(', ') || 'cannot be read as a picture'}`);
}

/** A table of predictions in place of pictures. UserError (usage) where it is not alone. */
function tableAmong(files: readonly string[]): string | undefined {
  const table = files.find((file) => /\.csv$/i.test(file));
  if (table === undefined || files.length === 1) return table;
  throw new UserError('usage', `${table} is no picture`, 'Name a table of predictions alone');
}

function say(context: Context, id: string, step: number | null, mistakes: Mistakes): void {
  if (context.json) context.output.json({ type: 'mistakes', id, step, ...mistakes });
  else for (const line of mistakeLines(mistakes)) context.output.line(line);
}

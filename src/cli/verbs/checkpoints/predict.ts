import { exitCodes } from '../../../core/base/errors.js';
import { checkpointChoice, chooseCheckpoint } from '../../../core/checkpoints/choose.js';
import { predictPictures } from '../../../core/checkpoints/predict.js';
import type { Verb } from '../../context.js';
import { percentText } from '../../format.js';

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
    'Exits 5 when a file could not be read as a picture; the others are shown all the same.',
    'Example: trainyard predict resnet50-0412 --step best tulip.jpg rose.jpg',
  ],
  async run(context, args) {
    const choice = checkpointChoice(args.value('step') ?? 'latest');
    const entry = await context.resolveRun(args);
    const checkpoint = await chooseCheckpoint(await context.node.client(), entry, choice);
    const predictions = await context.withProgress((progress) =>
      predictPictures(context.machine, entry, checkpoint, args.words.slice(1), progress),
    );
    for (const { file, top5 } of predictions) {
      if (context.json) {
        context.output.json({ type: 'prediction', id: entry.id, step: checkpoint.step, file, top5 });
      } else {
        const classes = top5.map((each) => `${each.class} ${percentText(each.probability)}`);
        context.output.line(`${file}: ${classes.join(', ') || 'cannot be read as a picture'}`);
      }
    }
    return predictions.some(({ top5 }) => top5.length === 0) ? exitCodes.failed : exitCodes.done;
  },
};

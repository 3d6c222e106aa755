import { durationText } from '../../../core/base/duration.js';
import { exitCodes } from '../../../core/base/errors.js';
import { checkpointChoice, chooseCheckpoint } from '../../../core/checkpoints/choose.js';
import { evaluateCheckpoint } from '../../../core/checkpoints/evaluate.js';
import { evaluationData } from '../../../core/plan/evaluated.js';
import type { Verb } from '../../context.js';
import { accuracyText } from '../../format.js';

/** Four significant digits. */
const lossText = (loss: number | null): string => (loss === null ? '-' : loss.toPrecision(4));

export const evaluate: Verb = {
  verb: 'eval',
  summary: 'evaluates a checkpoint now',
  words: ['RUN', 'STEP?'],
  flags: [
    {
      name: 'data',
      value: 'SPEC',
      help: 'images on the node of the run, as it calls them; by default the --eval-data of the run',
    },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'STEP is a step, latest (the default) or best. It computes on the CPU of the node that has the run: with all cores, or with one thread while the run is under way.',
    'The result is added to the metrics of the run, as that of the evaluator beside a training.',
  ],
  async run(context, args) {
    const choice = checkpointChoice(args.words[1] ?? 'latest');
    const entry = await context.resolveRun(args);
    const checkpoint = await chooseCheckpoint(await context.node.client(), entry, choice);
    const data = args.value('data') ?? evaluationData(entry);
    const result = await context.withProgress((progress) =>
      evaluateCheckpoint(context.machine, entry, checkpoint, data, progress),
    );
    const { step, top1, top5, loss, images, seconds } = result;
    if (context.json) {
      context.output.json({ type: 'evaluation', id: entry.id, step, top1, top5, loss, images, seconds });
    } else {
      const figures = `${accuracyText(result)}  loss ${lossText(loss)}`;
      context.output.line(`step ${step}  ${figures}  ${images} images in ${durationText(seconds)}`);
    }
    return exitCodes.done;
  },
};

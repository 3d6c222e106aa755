import { resolve } from 'node:path';
import { exitCodes } from '../../../core/base/errors.js';
import { join } from '../../../core/base/nodePath.js';
import { checkpointChoice, chooseCheckpoint } from '../../../core/checkpoints/choose.js';
import { downloadCheckpoint } from '../../../core/checkpoints/download.js';
import type { Verb } from '../../context.js';
import { bytesText } from '../../format.js';

export const download: Verb = {
  verb: 'download',
  summary: 'brings a checkpoint to this machine',
  words: ['RUN', 'STEP', 'DIR'],
  flags: [
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'STEP is a step, latest or best. The checkpoint becomes a folder in DIR, called as on the node: step-00000100.',
    'Until every SHA-256 has been compared, the name of the folder ends in .partial. An interrupted download goes on where it was when the command is given again.',
  ],
  async run(context, args) {
    const [, step = '', folder = ''] = args.words;
    const choice = checkpointChoice(step);
    const entry = await context.resolveRun(args);
    const checkpoint = await chooseCheckpoint(await context.node.client(), entry, choice);
    const from = join(entry.dir, checkpoint.path);
    const got = await context.withProgress((progress) =>
      downloadCheckpoint(context.node, from, resolve(context.cwd, folder), progress),
    );
    const { path, bytes, kept } = got;
    if (context.json) context.output.json({ type: 'downloaded', step: checkpoint.step, path, bytes, kept });
    else {
      const before = kept === 0 ? '' : `, ${bytesText(kept)} of it from before`;
      context.output.line(`${path}  ${bytesText(bytes)}${before}`);
    }
    return exitCodes.done;
  },
};

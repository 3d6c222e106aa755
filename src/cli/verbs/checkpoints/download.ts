import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../../core/base/errors.js';
import { join } from '../../../core/base/nodePath.js';
import { plural } from '../../../core/base/plural.js';
import { checkpointChoice, chooseCheckpoint } from '../../../core/checkpoints/choose.js';
import { downloadCheckpoint, type Download } from '../../../core/checkpoints/download.js';
import { assertOwnNames, downloadFiles } from '../../../core/checkpoints/downloadFiles.js';
import { leftOutText, type RunFiles } from '../../../core/cluster/nodes/runFiles.js';
import type { Args } from '../../args.js';
import type { Context, Verb } from '../../context.js';
import { bytesText } from '../../format.js';

export const download: Verb = {
  verb: 'download',
  summary: 'brings a checkpoint, or files that a run wrote, to this machine',
  words: ['RUN', 'STEP?', 'DIR'],
  flags: [
    { name: 'file', value: 'PATH', help: 'in place of STEP: a file or folder of the run; may be repeated' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'STEP is a step, latest or best. The checkpoint becomes a folder in DIR, called as on the node: step-00000100.',
    "PATH is where the program wrote it: from the run's folder or, with --code, from the program's own. A folder brings all files below it. In DIR it has its own name: --file outputs/model.pt becomes DIR/model.pt.",
    'Until every SHA-256 has been compared, the name in DIR ends in .partial. An interrupted download goes on where it was when the command is given again. What is in DIR already is not written over.',
    'Example: trainyard download last --file outputs .',
  ],
  async run(context, args) {
    const [, first = '', second] = args.words;
    if (args.has('file')) {
      if (second !== undefined) {
        throw new UserError('usage', 'STEP and --file stand beside each other', 'Leave one of them out');
      }
      return downloadPaths(context, args, first);
    }
    if (second === undefined) {
      const hint = 'Write a step, latest or best before DIR, or --file PATH for what the run wrote';
      throw new UserError('usage', 'STEP is missing', hint);
    }
    const choice = checkpointChoice(first);
    const entry = await context.resolveRun(args);
    const checkpoint = await chooseCheckpoint(await context.node.client(), entry, choice);
    const from = join(entry.dir, checkpoint.path);
    const got = await context.withProgress((progress) =>
      downloadCheckpoint(context.node, from, resolve(context.cwd, second), progress),
    );
    const { path, bytes, kept } = got;
    if (context.json) context.output.json({ type: 'downloaded', step: checkpoint.step, path, bytes, kept });
    else context.output.line(`${path}  ${sizeText(got)}`);
    return exitCodes.done;
  },
};

const sizeText = ({ bytes, kept }: Download): string =>
  `${bytesText(bytes)}${kept === 0 ? '' : `, ${bytesText(kept)} of it from before`}`;

/** All of them are looked for before the first one is brought. */
async function downloadPaths(context: Context, args: Args, dir: string): Promise<number> {
  const entry = await context.resolveRun(args);
  const wanted = await context.withProgress(async (progress) => {
    const found: { file: string; found: RunFiles }[] = [];
    for (const file of args.all('file')) {
      found.push({ file, found: await context.machine.runFiles(entry.dir, file, progress) });
    }
    return found;
  });
  assertOwnNames(wanted.map(({ found }) => found));
  const folder = resolve(context.cwd, dir);
  for (const { file, found } of wanted) {
    const got = await context.withProgress((progress) =>
      downloadFiles(context.node, found, folder, progress),
    );
    tellFiles(context, file, found, got);
  }
  return exitCodes.done;
}

function tellFiles(context: Context, file: string, found: RunFiles, got: Download): void {
  const { leftOut, leftOutCount } = found;
  const note = leftOutText(found);
  if (note !== undefined) context.output.note(note);
  const { path, bytes, kept } = got;
  const files = found.files.length;
  if (context.json) {
    context.output.json({
      ...{ type: 'downloaded-files', file, path, files, bytes, kept },
      ...{ leftOut, leftOutCount },
    });
    return;
  }
  const count = found.isFolder ? `${plural(files, 'file')}, ` : '';
  context.output.line(`${path}  ${count}${sizeText(got)}`);
}

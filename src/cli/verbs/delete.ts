import { exitCodes } from '../../core/base/errors.js';
import { deleteRunFolders, deletionNotes, ownFilesOf } from '../../core/follow/deletion.js';
import type { NodePath } from '../../core/base/nodePath.js';
import type { Context, Verb } from '../context.js';
import { demandYes, yesFlag } from '../prompter.js';
import { deleteCheckpoint } from './checkpoints/deleteCheckpoint.js';
import { errorWords } from '../remedies.js';

export const deleteRun: Verb = {
  verb: 'delete',
  summary: 'removes a run with its checkpoints, on every node; refused while it runs',
  words: ['RUN'],
  flags: [
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
    {
      name: 'step',
      value: 'STEP',
      help: 'remove this checkpoint alone (a step, latest or best), also while the run is under way; never the last valid one',
    },
    {
      name: 'everything',
      help: 'also remove what the program wrote into the folder that Trainyard made for the run, as its own checkpoints',
    },
    yesFlag,
  ],
  details: [
    'What a program of your own wrote stays in the folder, and is named. --everything removes it too; never in a folder that was there before the run.',
  ],
  async run(context, args) {
    const step = args.value('step');
    const entry = await context.resolveRun(args);
    if (step !== undefined) return deleteCheckpoint(context, entry, step, args.has('yes'));
    const { dir, id } = entry;
    const everything = args.has('everything');
    const given = args.has('yes');
    const others = given ? '' : await othersText(context, dir, everything);
    const question = `Delete ${id} with its checkpoints, metrics and logs, ${dir}?${others}`;
    await demandYes(given, question, `${id} was not deleted`);
    const deletion = await deleteRunFolders(context.machine, context.currentProfile, entry, everything);
    const { stays, stayCount } = deletion;
    const unreached = deletion.unreached.map(({ host, dir: there, error }) => {
      return { host, dir: there, why: errorWords(error) };
    });
    if (context.json) {
      context.output.json({ type: 'deleted', id, dir, stays, stay_count: stayCount, unreached });
    } else context.output.line(`${id} deleted`);
    for (const note of deletionNotes(dir, deletion, errorWords)) context.output.note(note);
    if (stayCount > 0 && !everything) {
      context.output.note('--everything would have removed what stays of a folder that was made for the run');
    }
    return unreached.length === 0 ? exitCodes.done : exitCodes.connection;
  },
};

/** What of the program's own goes or stays with it; empty where there is nothing. */
async function othersText(context: Context, dir: NodePath, everything: boolean): Promise<string> {
  const { names, mayGo } = await ownFilesOf(context.machine, dir);
  if (names === '') return '';
  const all = everything && mayGo;
  return ` Your program's files there ${all ? 'go too, on every node' : 'stay'}: ${names}.`;
}

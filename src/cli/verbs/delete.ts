import { exitCodes } from '../../core/base/errors.js';
import { deleteRunFolders, deletionNotes } from '../../core/follow/deletion.js';
import type { Verb } from '../context.js';
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
    yesFlag,
  ],
  details: ['Files in its folder that are not of the run stay, and are named.'],
  async run(context, args) {
    const step = args.value('step');
    const entry = await context.resolveRun(args);
    if (step !== undefined) return deleteCheckpoint(context, entry, step, args.has('yes'));
    const { dir, id } = entry;
    const question = `Delete ${id} with its checkpoints, metrics and logs, ${dir}?`;
    await demandYes(args.has('yes'), question, `${id} was not deleted`);
    const deletion = await deleteRunFolders(context.machine, context.currentProfile, entry);
    const { stays, stayCount } = deletion;
    const unreached = deletion.unreached.map(({ host, dir: there, error }) => {
      return { host, dir: there, why: errorWords(error) };
    });
    if (context.json) {
      context.output.json({ type: 'deleted', id, dir, stays, stay_count: stayCount, unreached });
    } else context.output.line(`${id} deleted`);
    for (const note of deletionNotes(dir, deletion, errorWords)) context.output.note(note);
    return unreached.length === 0 ? exitCodes.done : exitCodes.connection;
  },
};

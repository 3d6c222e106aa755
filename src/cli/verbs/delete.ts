import { exitCodes } from '../../core/errors.js';
import type { Verb } from '../context.js';

export const deleteRun: Verb = {
  verb: 'delete',
  summary: "removes a run's folder with its checkpoints; refused while it runs",
  words: ['RUN'],
  flags: [{ name: 'profile', value: 'P', help: 'whose runs; by default local' }],
  async run(context, args) {
    const { dir, id } = await context.resolveRun(args);
    await (await context.node.client()).request('run.delete', { dir });
    if (context.json) context.output.json({ type: 'deleted', id, dir });
    else context.output.line(`${id} deleted`);
    return exitCodes.done;
  },
};

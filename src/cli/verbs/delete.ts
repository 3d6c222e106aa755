import { Cancelled, exitCodes } from '../../core/errors.js';
import type { Verb } from '../context.js';
import { confirm } from '../prompter.js';

export const deleteRun: Verb = {
  verb: 'delete',
  summary: "removes a run's folder with its checkpoints; refused while it runs",
  words: ['RUN'],
  flags: [
    { name: 'profile', value: 'P', help: 'whose runs; by default local' },
    { name: 'yes', help: 'without asking; it is not asked either where there is no terminal' },
  ],
  async run(context, args) {
    const { dir, id } = await context.resolveRun(args);
    const question = `Delete ${id} with its checkpoints, metrics and logs, ${dir}? Type yes: `;
    if (!args.has('yes') && !(await confirm(question))) throw new Cancelled();
    await (await context.node.client()).request('run.delete', { dir });
    if (context.json) context.output.json({ type: 'deleted', id, dir });
    else context.output.line(`${id} deleted`);
    return exitCodes.done;
  },
};

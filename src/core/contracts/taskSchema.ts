// A task of the editor, as docs/contracts/tasks.md fixes it.
import * as z from 'zod/mini';
import { slurmWishSchema } from './slurmSchema.js';

const word = z.string().check(z.minLength(1));
const positive = z.int().check(z.gte(1));

/** What a task says besides what the editor itself reads of every task. */
export const taskSchema = z
  .object({
    profile: z.optional(word),
    /** The words of the command. */
    program: z.optional(z.array(z.string()).check(z.minLength(1))),
    /** The same as one text. */
    command: z.optional(word),
    /** Where it starts, where this machine is the node. */
    cwd: z.optional(word),
    name: z.optional(word),
    ranks: z.optional(positive),
    nodes: z.optional(positive),
    /** In place of a number of nodes. */
    hosts: z.optional(z.array(word).check(z.minLength(1))),
    /** Of each node: so many, or these by their numbers. */
    gpus: z.optional(z.union([positive, word])),
    /** A folder of this machine that goes along. */
    code: z.optional(word),
    perSlot: z.optional(z.boolean()),
    perNode: z.optional(z.boolean()),
    wait: z.optional(z.boolean()),
    /** In the profile's currency. */
    budget: z.optional(z.number().check(z.gt(0))),
    budgetStop: z.optional(z.boolean()),
    /** Say `2h`; the run then stops after a checkpoint. */
    timeLimit: z.optional(word),
    /** Of an own program, say `10m`: after such a silence it counts as hung. */
    silenceTimeout: z.optional(word),
    /** Of an own program: the folder of the run's that the other nodes get from the head. */
    share: z.optional(word),
    /** Of an own program: a file of this machine that names Python packages for the nodes. */
    requirements: z.optional(word),
    slurm: z.optional(slurmWishSchema),
    tensorboard: z.optional(z.boolean()),
    dashboard: z.optional(z.boolean()),
  })
  .check(
    z.superRefine((task, context) => {
      const problem = (path: string[], message: string): void => {
        context.addIssue({ code: 'custom', path, message, input: task });
      };
      if ((task.program === undefined) === (task.command === undefined)) {
        problem([], 'one of "program" and "command" must be there, and not both');
      }
      if (task.perSlot === true && task.perNode === true) {
        problem(['perNode'], 'cannot stand beside "perSlot"');
      }
      if (task.code !== undefined && task.cwd !== undefined) {
        problem(['cwd'], 'cannot stand beside "code", in which the program starts');
      }
    }),
  );

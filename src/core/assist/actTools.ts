// Tools that change something: start, resume, stop. The user agrees to each call.
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { moneyText, priceOf } from '../cost/runCost.js';
import { slurmWishSchema } from '../contracts/slurmSchema.js';
import { requestOf, type TypedRun } from '../plan/request/request.js';
import { withTrainDefaults } from '../plan/request/trainDefaults.js';
import { timeLimitOf, timeLimitText } from '../plan/request/timeLimit.js';
import { resumedRun } from '../plan/resume.js';
import { joinWords } from '../plan/request/argv.js';
import { slurmTexts, slurmWishOf } from '../slurm/wish.js';
import { seen } from './bounded.js';
import { described, exactRunInputs, profileInput } from './inputs.js';
import { tool, type Tool } from './tool.js';
import { findExactRun, type FoundRun, type ToolHost } from './toolHost.js';

const count = (description: string): z.ZodMiniOptional<z.ZodMiniNumber> =>
  described(z.optional(z.int().check(z.minimum(1))), description);

const hostsInput = (description: string): z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString>> =>
  described(z.optional(z.array(z.string()).check(z.minLength(1))), description);

const startInput = z.strictObject({
  profile: profileInput,
  command: described(
    z.array(z.string()).check(z.minLength(1), z.maxLength(500)),
    'Words of the command: train with its flags, another verb of the trainer, or any program with its arguments. For example ["train","--model","resnet20","--data","synthetic","--steps","100"].',
  ),
  ranks: count('Processes. By default one for each slot or GPU.'),
  nodes: count('How many nodes of the profile to use. By default all.'),
  hosts: hostsInput('On these hosts of the profile only, in place of a number of nodes.'),
  gpus: described(z.optional(z.string()), 'On each node: a number of free GPUs, or indices (0,2).'),
  name: described(z.optional(z.string()), 'What the run is called.'),
  tags: described(z.optional(z.array(z.string())), 'Words to find it by.'),
  notes: described(z.optional(z.string()), 'What the run is for.'),
  budget: described(
    z.optional(z.number().check(z.gt(0))),
    "What the run may cost, in the currency of the profile's price. By default what the profile says.",
  ),
  budget_stop: described(
    z.optional(z.boolean()),
    'Whether it stops after a checkpoint once the budget is spent. By default what the profile says.',
  ),
  time_limit: described(
    z.optional(z.string()),
    'How long it may take, for example 90s, 30m, 2h or 1d. It then stops after a checkpoint. By default without end.',
  ),
  slurm: described(
    z.optional(slurmWishSchema),
    "On a profile of kind slurm: what is asked of Slurm in place of the profile's.",
  ),
});

async function typedStart(host: ToolHost, input: z.output<typeof startInput>): Promise<TypedRun> {
  const { profile, command, ranks, nodes, hosts, gpus, name, tags, notes, budget, slurm } = input;
  const found = await host.profiles.get(profile);
  const typed = {
    profile: found,
    words: command,
    cwd: host.cwd,
    ...(ranks === undefined ? {} : { ranks }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
    ...(notes === undefined ? {} : { notes }),
    ...(budget === undefined ? {} : { budget }),
    ...(input.budget_stop === undefined ? {} : { budgetStop: input.budget_stop }),
    ...(input.time_limit === undefined ? {} : { timeLimit: timeLimitOf(input.time_limit, 'time_limit') }),
    ...(slurm === undefined ? {} : { slurm: slurmWishOf(slurmTexts(slurm)) }),
  };
  return withTrainDefaults(typed, found);
}

/** Everything that decides what is run, and nothing that is not seen. */
function startQuestion({ profile, words, ranks, nodes, hosts, gpus, ...more }: TypedRun): string {
  const { budget, budgetStop, timeLimit, slurm = {} } = more;
  const money = budget === undefined ? '' : moneyText(budget, priceOf(profile)?.currency ?? '');
  const where = [
    `profile ${profile.name}`,
    ...(ranks === undefined ? [] : [`${ranks} ranks`]),
    ...(nodes === undefined ? [] : [`${nodes} nodes`]),
    ...(hosts === undefined ? [] : [`hosts ${hosts.join(' ')}`]),
    ...(gpus === undefined ? [] : [`GPUs ${gpus}`]),
    ...(money === '' ? [] : [`budget ${money}`]),
    ...(budgetStop === undefined ? [] : [budgetStop ? 'a stop at the budget' : 'no stop at the budget']),
    ...(timeLimit === undefined ? [] : [`a stop after ${timeLimitText(timeLimit)}`]),
    ...slurmTexts(slurm).map((text) => `Slurm ${text}`),
  ];
  return seen(`Start on ${where.join(', ')}: ${joinWords(words)}`);
}

const start = tool({
  name: 'start_run',
  title: 'Start Run',
  description:
    'Starts a training or a program on a profile. The user is asked first. Returns the id of the run once it has started; the run goes on by itself.',
  input: startInput,
  question: async (host, input) => {
    const typed = await typedStart(host, input);
    requestOf(typed); // a request that cannot be is refused before anybody is asked
    return startQuestion(typed);
  },
  run: async (host, input, progress) => {
    const request = requestOf(await typedStart(host, input));
    const { id, dir } = await (await host.machine(request.profile)).start(request, progress);
    await host.note(id, request.profile.name, request.about?.name);
    return { id, dir, profile: request.profile.name };
  },
});

const resumeInput = z.strictObject({
  ...exactRunInputs,
  hosts: hostsInput(
    'Go on with every slot of these hosts of the profile, in place of the hosts, nodes and ranks that the run had. A training keeps its global batch.',
  ),
});

const resumed = (
  host: ToolHost,
  { entry, profile }: FoundRun,
  { hosts }: z.output<typeof resumeInput>,
): TypedRun => resumedRun(entry, profile, host.cwd, { hosts });

const resume = tool({
  name: 'resume_run',
  title: 'Resume Run',
  description:
    'Goes on with a run that failed, was stopped or interrupted, from its newest valid checkpoint. The user is asked first.',
  input: resumeInput,
  question: async (host, input) => {
    const found = await findExactRun(host, input);
    const typed = resumed(host, found, input);
    requestOf(typed); // a request that cannot be is refused before anybody is asked
    const on = typed.hosts === undefined ? '' : `, hosts ${typed.hosts.join(' ')}`;
    return seen(`Resume ${found.entry.id} on profile ${found.profile.name}${on}: ${joinWords(typed.words)}`);
  },
  run: async (host, input, progress) => {
    const found = await findExactRun(host, input);
    const { id, dir } = await found.machine.start(requestOf(resumed(host, found, input)), progress);
    await host.note(id, found.profile.name);
    return { id, dir, profile: found.profile.name };
  },
});

async function runningRun(
  host: ToolHost,
  input: { run: string; profile?: string | undefined },
): Promise<FoundRun> {
  const found = await findExactRun(host, input);
  const status = statusOf(found.entry);
  if (!isOver(status)) return found;
  throw new UserError('usage', `${found.entry.id} is not running: it is ${status}`, '');
}

const stop = tool({
  name: 'stop_run',
  title: 'Stop Run',
  description:
    'Stops a run after a checkpoint, or now. The user is asked first. Returns once the stop was asked for; list_runs shows when the run is over.',
  input: z.strictObject({
    ...exactRunInputs,
    now: described(z.optional(z.boolean()), 'Without a checkpoint: steps since the last one are lost.'),
  }),
  question: async (host, input) => {
    const { entry, profile } = await runningRun(host, input);
    const how = input.now === true ? 'now, without a checkpoint' : 'after a checkpoint';
    return seen(`Stop ${entry.id} on profile ${profile.name} ${how}`);
  },
  run: async (host, input) => {
    const { entry, machine } = await runningRun(host, input);
    const mode = input.now === true ? 'now' : 'checkpoint';
    await machine.stop(entry.dir, mode);
    return { id: entry.id, stop: mode };
  },
});

/** Each has a `question`. */
export const actTools: readonly Tool[] = [start, resume, stop];

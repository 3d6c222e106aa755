// `trainyard sweep`.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../core/base/errors.js';
import type { Progress } from '../../core/base/progress.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import { runSweep } from '../../core/measure/sweep.js';
import { openSweep, readSweep, writeSweep } from '../../core/measure/sweepFolder.js';
import { commandLineOf } from '../../core/plan/request/commandLine.js';
import { trainHelp } from '../../core/plan/request/flagCheck.js';
import { cleanLabel } from '../../core/plan/request/flags.js';
import { gpuWishOf } from '../../core/plan/request/gpuWish.js';
import type { TypedRun } from '../../core/plan/request/request.js';
import {
  addedDefaults,
  trainDefaultsText,
  withTrainDefaults,
} from '../../core/plan/request/trainDefaults.js';
import { offeredFlags, type TrainerFlag } from '../../core/plan/request/trainerHelp.js';
import { aboutOf } from '../../core/plan/request/about.js';
import { Lease } from '../../core/setup/lease.js';
import { axesOf, valuesOf, type Values } from '../../core/sweep/grid.js';
import { metricOf } from '../../core/sweep/metric.js';
import {
  newTrial,
  trialName,
  trialTags,
  withAgain,
  type AskedSweep,
  type Sweep,
  type Trial,
} from '../../core/sweep/record.js';
import { trialsAtOnce } from '../../core/sweep/room.js';
import { assertPlaces, assertTrial, isTraining, wordsOfTrial } from '../../core/sweep/trialWords.js';
import { countOf, type Args, type Flag } from '../args.js';
import type { Context } from '../context.js';
import { errorWords } from '../remedies.js';
import { codeOf, typedRun } from '../typedRun.js';
import { argsOf, askedOf } from './asked.js';
import { showLeft, showSweep, tellTrial } from './show.js';

const usualSeed = '1';

/** What the trials of a sweep have in common, and what each runs. */
interface Plan {
  profile: Profile;
  sweep: Sweep;
  /** Without the code, which is looked up once the sweep goes on. */
  typedOf: (values: Values) => TypedRun;
}

/** A new sweep, or the same one again. Returns the exit code. */
export async function startSweep(context: Context, args: Args, flags: readonly Flag[]): Promise<number> {
  const [name] = args.words;
  if (name === undefined) {
    const hint = 'trainyard profiles lists them; a sweep that was ended goes on with --resume FOLDER';
    throw new UserError('usage', 'P, the name of a profile, is missing', hint);
  }
  const plan = await planOf(context, askedOf(args, flags, name), context.cwd);
  const folder = folderOf(context, args, name);
  return goOn(context, args, folder, plan, () => openSweep(folder, plan.sweep));
}

/** The sweep that the folder has. Returns the exit code. */
export async function continueSweep(context: Context, args: Args, given: string): Promise<number> {
  const folder = resolve(context.cwd, given);
  const found = await readSweep(folder);
  if (found === undefined) {
    throw new UserError('usage', `${folder} has no sweep`, 'Name the folder with its sweep.json');
  }
  const plan = await planOf(context, found.asked, found.cwd);
  return goOn(context, args, folder, plan, async () => (await readSweep(folder)) ?? found);
}

function folderOf(context: Context, args: Args, profile: string): string {
  const named = cleanLabel(args.value('name') ?? '') || profile;
  return resolve(context.cwd, args.value('out') ?? `sweep-${named}`);
}

/** Looks at everything that can be wrong before a run is started. UserError. */
async function planOf(context: Context, asked: AskedSweep, cwd: string): Promise<Plan> {
  const args = argsOf(asked);
  const axes = axesOf(args.all('grid'), 'Write, for example, --grid lr=0.1,0.01');
  if (args.rest.length === 0) {
    throw new UserError(
      'usage',
      'there is nothing to run',
      'Write train and its flags after --, or a command',
    );
  }
  const all = valuesOf(axes, drawnOf(args));
  const profile = await context.profile(asked.profile);
  const base = typedRun(profile, cwd, args);
  const flags = isTraining(args.rest) ? await trainerFlags(context) : [];
  assertPlaces(args.rest, axes, flags);
  for (const values of all) if (isTraining(args.rest)) assertTrial(args.rest, values, flags);
  const typedOf = (values: Values): TypedRun =>
    withTrainDefaults({ ...base, words: wordsOfTrial(args.rest, values, flags) }, profile);
  const [first = {}] = all;
  const added = addedDefaults({ ...base, words: wordsOfTrial(args.rest, first, flags) }, profile);
  if (added) context.output.note(`profile ${profile.name} adds ${trainDefaultsText(added)}`);
  const name = args.value('name') ?? `sweep-${profile.name}`;
  const code = args.value('code');
  const trials = all.map((values, at) => {
    const number = at + 1;
    const trial = { number, name: trialName(name, number, all.length), values };
    aboutOf({ name: trial.name, tags: [...trialTags(name, values), ...(base.tags ?? [])] });
    return newTrial({ ...trial, command: commandOf(typedOf(values), code) });
  });
  const sweep: Sweep = {
    ...{ version: 1, name, profile: profile.name, created: Date.now() / 1000, asked, cwd },
    ...{ metric: metricOf(typedOf(first).words, args.value('metric'), args.value('goal')) },
    ...{ trials, cancelled: false },
  };
  return { profile, sweep, typedOf };
}

/** UserError (usage). */
function drawnOf(args: Args): { count: number; seed: number } | undefined {
  const random = args.value('random');
  const seed = args.value('seed');
  if (random === undefined) {
    if (seed === undefined) return undefined;
    throw new UserError('usage', '--seed means nothing without --random', 'Leave it out, or add --random 20');
  }
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) {
    throw new UserError(
      'usage',
      `--seed must be a whole number from 0, not "${seed}"`,
      'Write, say, --seed 2',
    );
  }
  return { count: countOf('--random', random, 20), seed: Number(seed ?? usualSeed) };
}

/** Of this machine's trainer, where it has one: nothing is connected to then. */
async function trainerFlags({ trainerHere, machine }: Context): Promise<TrainerFlag[]> {
  const help = await trainerHere.runTrainerIfThere(trainHelp);
  return help === undefined ? machine.trainerFlags('train') : offeredFlags('train', help);
}

/** Starts the same run by itself, under no name. */
function commandOf(typed: TypedRun, codeFolder: string | undefined): string {
  const { profile, words } = typed;
  const run: Partial<TypedRun> = { ...typed };
  delete run.name; // that of the sweep
  delete run.cwd;
  const code = codeFolder === undefined ? {} : { codeFolder };
  return commandLineOf({ ...run, words, profile: profile.name, ...code });
}

async function goOn(
  context: Context,
  args: Args,
  folder: string,
  { profile, sweep: planned, typedOf }: Plan,
  open: () => Promise<Sweep>,
): Promise<number> {
  const { machine, output } = context;
  const asked = argsOf(planned.asked);
  const swept = await context.withProgress(async (progress) => {
    const lease = await leaseOf(folder, progress);
    let reached: Sweep | undefined;
    try {
      const found = await open();
      const sweep = args.has('again') ? withAgain(found) : found;
      const common = typedOf({});
      const atOnce = await atOnceOf(context, args.value('runs-at-once'), common);
      const code = await codeOf(context, common, asked.value('code'));
      const say = (text: string): void => {
        if (process.stderr.isTTY) progress.onProgress(''); // what is shown there makes room
        output.note(text);
      };
      if (found !== planned) say(`goes on with ${folder}`);
      reached = sweep;
      return await runSweep({
        ...progress,
        ...{ machine, profile, sweep, atOnce, errorWords, logger: context.logger },
        runOf: ({ values }: Trial) => ({ ...typedOf(values), code }),
        onSweep: async (now) => {
          reached = now;
          await writeSweep(folder, now);
        },
        onRun: (id) => context.book.add(id, profile.name),
        onTrial: (trial, what) => {
          say(tellTrial(sweep, trial, what));
        },
      });
    } catch (error) {
      if (reached) showLeft(output, reached, folder);
      throw error;
    } finally {
      await lease.release();
    }
  });
  showSweep(context, swept, folder);
  if (swept.cancelled) return exitCodes.interrupted;
  return swept.trials.every(({ status }) => status === 'finished') ? exitCodes.done : exitCodes.failed;
}

/** One client drives a sweep: two would start the same trial. UserError (preflight), Cancelled. */
async function leaseOf(folder: string, { signal, onProgress }: Progress): Promise<Lease> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const what = `${folder} cannot be made: ${errorWords(error)}`;
    throw new UserError('preflight', what, 'Choose another folder with --out', { cause: error });
  }
  return Lease.hold(folder, 'sweep', {
    signal,
    onWait: (host) =>
      onProgress?.(`another trainyard on ${host} is at this sweep; waiting until it has ended`),
  });
}

/** UserError (usage, connection). */
async function atOnceOf(
  { machine }: Context,
  text: string | undefined,
  { gpus, nodes, hosts }: Pick<TypedRun, 'gpus' | 'nodes' | 'hosts'>,
): Promise<number> {
  if (text !== 'gpus') return text === undefined ? 1 : countOf('--runs-at-once', text, 2);
  const named = machine.nodes.filter(({ name }) => hosts === undefined || hosts.includes(name));
  const counts = await Promise.all(
    named.map(async ({ node }) => (await (await node.client()).request('host.sample')).gpus.length),
  );
  const taking = counts.filter((count) => count > 0);
  return trialsAtOnce(taking, gpus === undefined ? undefined : gpuWishOf(gpus, '--gpus'), nodes);
}

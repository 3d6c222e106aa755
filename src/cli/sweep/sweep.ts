// `trainyard sweep`.
import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { runSweep } from '../../core/measure/sweep.js';
import { trialPlaces, type TrialPlaces } from '../../core/measure/trialPlaces.js';
import { holdSweep, openSweep, writeSweep } from '../../core/measure/sweepFolder.js';
import { trainHelp } from '../../core/plan/request/flagCheck.js';
import { cleanLabel } from '../../core/plan/request/flags.js';
import { gpuWishOf } from '../../core/plan/request/gpuWish.js';
import type { TypedRun } from '../../core/plan/request/request.js';
import { trainDefaultsText } from '../../core/plan/request/trainDefaults.js';
import { offeredFlags, type TrainerFlag } from '../../core/plan/request/trainerHelp.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import { axesOf, usualSeed } from '../../core/sweep/grid.js';
import { trialLine, unreached } from '../../core/sweep/pages.js';
import { planSweep, type SweepPlan } from '../../core/sweep/plan.js';
import { isDone, withAgain, type AskedSweep, type Sweep, type Trial } from '../../core/sweep/record.js';
import { isTraining } from '../../core/sweep/trialWords.js';
import { countOf, type Args, type Flag } from '../args.js';
import type { Context } from '../context.js';
import { errorWords } from '../remedies.js';
import { codeOf, typedRun } from '../typedRun.js';
import { argsOf, askedOf } from './asked.js';
import { sweepIn } from './folder.js';
import { showDetached, showLeft, showSweep } from './show.js';

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
  const found = await sweepIn(folder);
  const plan = await planOf(context, found.asked, found.cwd);
  return goOn(context, args, folder, plan, () => sweepIn(folder));
}

function folderOf(context: Context, args: Args, profile: string): string {
  const named = cleanLabel(args.value('name') ?? '') || profile;
  return resolve(context.cwd, args.value('out') ?? `sweep-${named}`);
}

/** Looks at everything that can be wrong before a run is started. UserError. */
async function planOf(context: Context, asked: AskedSweep, cwd: string): Promise<SweepPlan> {
  const args = argsOf(asked);
  const axes = axesOf(args.all('grid'), 'Write, for example, --grid lr=0.1,0.01');
  if (args.rest.length === 0) {
    throw new UserError(
      'usage',
      'there is nothing to run',
      'Write train and its flags after --, or a command',
    );
  }
  const profile = await context.profile(asked.profile);
  const trials = {
    ...{ axes, random: drawnOf(args), name: args.value('name') ?? `sweep-${profile.name}` },
    ...{ metric: args.value('metric'), goal: args.value('goal'), prune: pruneOf(args.value('prune')) },
  };
  const base = typedRun(profile, cwd, args);
  const flags = isTraining(args.rest) ? await trainerFlags(context) : [];
  const plan = planSweep(trials, { profile, base, codeFolder: args.value('code'), flags }, asked);
  if (plan.added) context.output.note(`profile ${profile.name} adds ${trainDefaultsText(plan.added)}`);
  return plan;
}

/** UserError (usage). */
const pruneOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : countOf('--prune', text, 100);

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

async function goOn(
  context: Context,
  args: Args,
  folder: string,
  { profile, sweep: planned, typedOf }: SweepPlan,
  open: () => Promise<Sweep>,
): Promise<number> {
  assertDetached(args, profile);
  const { machine, output } = context;
  const asked = argsOf(planned.asked);
  const swept = await context.withProgress(async (progress) => {
    const lease = await holdSweep(folder, {
      signal: progress.signal,
      onWait: (host) => {
        progress.onProgress(`another trainyard on ${host} is at this sweep; waiting until it has ended`);
      },
    });
    let reached: Sweep | undefined;
    try {
      const found = await open();
      const sweep = args.has('again') ? withAgain(found) : found;
      const common = typedOf({});
      const { without, ...places } = await placesOf(context, args, common);
      const code = await codeOf(context, common, asked.value('code'));
      const say = (text: string): void => {
        if (process.stderr.isTTY) progress.onProgress(''); // what is shown there makes room
        output.note(text);
      };
      if (without.length > 0) say(unreached(without));
      if (found !== planned) say(`goes on with ${folder}`);
      reached = sweep;
      return await runSweep({
        ...progress,
        ...{ machine, profile, sweep, ...places, errorWords, logger: context.logger },
        detached: args.has('detach'),
        runOf: ({ values }: Trial) => ({ ...typedOf(values), code }),
        onSweep: async (now) => {
          reached = now;
          await writeSweep(folder, now, lease);
        },
        onRun: (id) => context.note(id, profile.name),
        onTrial: (trial, what) => {
          say(trialLine(sweep, trial, what));
        },
      });
    } catch (error) {
      if (reached) showLeft(output, reached, folder);
      throw error;
    } finally {
      await lease.release();
    }
  });
  if (args.has('detach') && !swept.cancelled) return showDetached(context, swept, folder);
  showSweep(context, swept, folder);
  if (swept.cancelled) return exitCodes.interrupted;
  return swept.trials.every(isDone) ? exitCodes.done : exitCodes.failed;
}

/** UserError (usage). */
function assertDetached(args: Args, { kind }: Profile): void {
  if (kind !== 'slurm' || !args.has('detach') || !args.has('runs-at-once')) return;
  const what = 'with --detach every trial is sent to Slurm at once, whose queue says how many run';
  throw new UserError('usage', what, 'Leave out --runs-at-once, or --detach');
}

/** UserError (usage, connection). */
function placesOf({ machine }: Context, args: Args, trial: TypedRun): Promise<TrialPlaces> {
  const text = args.value('runs-at-once');
  const asked = text === undefined ? 1 : text === 'gpus' ? text : countOf('--runs-at-once', text, 2);
  const wish = trial.gpus === undefined ? undefined : gpuWishOf(trial.gpus, '--gpus');
  return trialPlaces(machine, trial, asked, wish, args.has('detach'));
}

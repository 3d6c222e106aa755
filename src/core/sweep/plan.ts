// A sweep before its first run: what each trial runs. Whatever can be wrong with it is found here.
import type { Profile } from '../contracts/profileSchema.js';
import { aboutOf } from '../plan/request/about.js';
import { commandLineOf } from '../plan/request/commandLine.js';
import type { TypedRun } from '../plan/request/request.js';
import { addedDefaults, withTrainDefaults } from '../plan/request/trainDefaults.js';
import type { TrainerFlag } from '../plan/request/trainerHelp.js';
import { valuesOf, type Axis, type Values } from './grid.js';
import { metricOf } from './metric.js';
import { newTrial, trialName, trialTags, type AskedSweep, type Sweep } from './record.js';
import { assertCompared } from './prune.js';
import { assertPlaces, assertTrial, isTraining, wordsOfTrial } from './trialWords.js';

/** What is tried. */
export interface Trials {
  axes: readonly Axis[];
  /** So many are drawn, in place of all combinations. */
  random?: { count: number; seed: number } | undefined;
  /** Of the sweep; its trials are numbered. */
  name: string;
  /** The figure that counts, where it is not the usual one. */
  metric?: string | undefined;
  goal?: string | undefined;
  /** The first step after which trials are compared, and poor ones stopped. */
  prune?: number | undefined;
}

/** What the trials have in common. */
export interface Common {
  profile: Profile;
  /** With the command of the sweep, in which values have their places. */
  base: Omit<TypedRun, 'profile' | 'report' | 'code'>;
  /** A folder of this machine that goes along with each trial. */
  codeFolder?: string | undefined;
  /** What the trainer takes. Not needed for another program. */
  flags: readonly TrainerFlag[];
}

/** A sweep that nothing is wrong with. */
export interface SweepPlan {
  profile: Profile;
  sweep: Sweep;
  /** Without the code, which is looked up once the sweep goes on. */
  typedOf: (values: Values) => TypedRun;
  /** What the profile adds to each trial; undefined for nothing. */
  added: Profile['train'];
}

/** `asked` is kept in the sweep's record. UserError (usage). */
export function planSweep(trials: Trials, common: Common, asked: AskedSweep): SweepPlan {
  const { axes, random, name, metric, goal, prune } = trials;
  const { profile, base, codeFolder, flags } = common;
  const all = valuesOf(axes, random);
  assertPlaces(base.words, axes, flags);
  if (isTraining(base.words)) for (const values of all) assertTrial(base.words, values, flags);
  const trialOf = (values: Values): TypedRun => {
    return { ...base, profile, words: wordsOfTrial(base.words, values, flags) };
  };
  const typedOf = (values: Values): TypedRun => withTrainDefaults(trialOf(values), profile);
  const [first = {}] = all;
  const wordsOf = (values: Values): readonly string[] => typedOf(values).words;
  const made = all.map((values, at) => {
    const number = at + 1;
    const trial = { number, name: trialName(name, number, all.length), values };
    aboutOf({ name: trial.name, tags: [...trialTags(name, values), ...(base.tags ?? [])] });
    return newTrial({ ...trial, command: commandOf(typedOf(values), codeFolder) });
  });
  if (prune !== undefined) assertCompared(prune, all.map(wordsOf));
  const sweep: Sweep = {
    ...{ version: 1, name, profile: profile.name, created: Date.now() / 1000, asked, cwd: base.cwd },
    ...{ metric: metricOf(wordsOf(first), metric, goal), trials: made, cancelled: false },
    ...(prune === undefined ? {} : { prune }),
  };
  return { profile, sweep, typedOf, added: addedDefaults(trialOf(first), profile) };
}

/** Starts the same run by itself, under no name. */
function commandOf({ profile, ...typed }: TypedRun, codeFolder: string | undefined): string {
  const run: Partial<TypedRun> & Pick<TypedRun, 'words'> = { ...typed };
  delete run.name; // that of the sweep
  delete run.cwd; // its paths are absolute
  const code = codeFolder === undefined ? {} : { codeFolder };
  return commandLineOf({ ...run, profile: profile.name, ...code });
}

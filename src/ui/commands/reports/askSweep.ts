// What a sweep tries: a command on a profile, settings and their values, how many trials, the
// figure that counts, from which step on poor trials are stopped, and who starts the trials.
import * as vscode from 'vscode';
import type { ProfileArgument, RunArgument } from '../../../contributions.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { joinWords, splitWords } from '../../../core/plan/request/argv.js';
import type { AskedRun } from '../../../core/plan/request/commandLine.js';
import { positiveInteger } from '../../../core/plan/request/flags.js';
import { proposeTraining } from '../../../core/plan/proposal.js';
import type { TrainerFlag } from '../../../core/plan/request/trainerHelp.js';
import { askedSweep, commonRun } from '../../../core/sweep/asked.js';
import { axesOf, combinations, usualSeed, type Axis } from '../../../core/sweep/grid.js';
import { metricOf, type Goal } from '../../../core/sweep/metric.js';
import { planSweep, type SweepPlan } from '../../../core/sweep/plan.js';
import { assertPlaces, isTraining, wordsOfTrial } from '../../../core/sweep/trialWords.js';
import { recentRuns, rememberProfile, type RecentRun } from '../../recentRuns.js';
import type { SweepAnswers } from '../../remembered/rememberedSweeps.js';
import { workspaceFolder } from '../../workspace/workspace.js';
import { pickProfile } from '../pick.js';
import { problemOf } from '../problemOf.js';
import { editCommandLine } from '../start/commandLine.js';
import { Folders } from '../start/folders.js';
import { runLike } from '../start/runLike.js';
import { startOf } from '../start/startAsked.js';
import type { Ui } from '../ui.js';

const title = 'Run Sweep';

/** A sweep that nothing is wrong with, and where it runs. */
export interface AskedTrials {
  session: ClusterSession;
  plan: SweepPlan;
  answers: SweepAnswers;
}

/** What was typed the last time, so that the same sweep is asked for by Enter alone. */
const memoryKey = 'trainyard.lastSweep';

/** Undefined where a question was given up. UserError. */
export async function askSweep(
  ui: Ui,
  from?: ProfileArgument | RunArgument,
): Promise<AskedTrials | undefined> {
  const like = from && 'dir' in from ? await runLike(ui, from) : undefined;
  const session = await pickProfile(ui, from, title);
  if (!session) return undefined;
  const { name } = session.profile;
  const machine = await session.machine();
  const last = ui.services.context.globalState.get<SweepAnswers>(memoryKey);
  const before = like === undefined && last?.run.profile === name ? last : undefined;
  const found = like ?? before?.run ?? lastRun(ui, name);
  const flags = await machine.trainerFlags('train');
  const line = await editCommandLine(
    `${title} on ${name}: the command, with {lr} where a value of lr goes. A training needs no places`,
    joinWords(found.words),
    Promise.resolve(flags),
    new Folders(machine),
    'Next',
  );
  if (line === undefined) return undefined;
  const words = splitWords(line);
  const settings = await askSettings(words, flags, before?.settings);
  if (settings === undefined) return undefined;
  const axes = axesOf(splitWords(settings));
  const count = await askCount(axes, before?.settings === settings ? before.count : undefined);
  if (count === undefined) return undefined;
  const first = Object.fromEntries(axes.map(({ name: axis, values: [value = '0'] }) => [axis, value]));
  const metric = await askMetric(wordsOfTrial(words, first, flags), before?.metric);
  if (metric === undefined) return undefined;
  const prune = await askPrune(before?.prune);
  if (prune === undefined) return undefined;
  const ahead = await askAhead();
  if (ahead === undefined) return undefined;
  const run = commonOf(found, words);
  const answers: SweepAnswers = { run, settings, count, metric, prune, ahead };
  await ui.services.context.globalState.update(memoryKey, answers);
  await rememberProfile(ui.services, name);
  return { session, answers, plan: planOf(session, answers, flags) };
}

/** The sweep of such answers. UserError where its profile is gone. */
export async function answeredSweep(ui: Ui, answers: SweepAnswers): Promise<AskedTrials> {
  const backend = await ui.services.backend();
  const session = await backend.session(answers.run.profile);
  const flags = await (await session.machine()).trainerFlags('train');
  return { session, answers, plan: planOf(session, answers, flags) };
}

/** UserError (usage). */
function planOf(
  { profile }: ClusterSession,
  { run, settings, count, metric, prune }: SweepAnswers,
  flags: readonly TrainerFlag[],
): SweepPlan {
  const axes = axesOf(splitWords(settings));
  const drawn = Number(count) < combinations(axes) ? Number(count) : undefined;
  const typed = {
    ...{ settings: splitWords(settings), random: drawn, name: `sweep-${profile.name}` },
    ...figureOf(metric),
    prune: prune === '' ? undefined : Number(prune),
  };
  const trials = {
    ...typed,
    axes,
    random: drawn === undefined ? undefined : { count: drawn, seed: usualSeed },
  };
  const { codeFolder, cwd = workspaceFolder(), ...base } = startOf(run).recent;
  const common = { profile, base: { ...base, cwd }, codeFolder, flags };
  return planSweep(trials, common, askedSweep({ ...run, profile: profile.name }, typed));
}

/** The tags and the label are of the run that this one is like. */
function commonOf(found: AskedRun & Pick<RecentRun, 'label'>, words: string[]): AskedRun {
  const run = { ...found, words };
  delete run.label;
  delete run.tags;
  if (run.evaluator === true) delete run.evaluator;
  return commonRun(run);
}

/** The last run on the profile, else a short training that works anywhere. */
function lastRun({ services }: Ui, profile: string): AskedRun {
  const words = [...proposeTraining('resnet20', ['--data', 'synthetic'])];
  return recentRuns(services).find((run) => run.profile === profile) ?? { profile, words };
}

const askSettings = (
  words: readonly string[],
  flags: readonly TrainerFlag[],
  last: string | undefined,
): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title,
    value: last ?? (isTraining(words) && !words.includes('--lr') ? 'lr=0.1,0.03,0.01' : ''),
    prompt: 'Settings and their values, with spaces between settings. A range: lr=1e-4..0.1:log',
    placeHolder: 'lr=0.1,0.01 batch-size=32,64',
    ignoreFocusOut: true,
    validateInput: (text) =>
      problemOf(() => {
        assertPlaces(words, axesOf(splitWords(text)), flags);
      }),
  });

/** Of trials to draw where there are ranges, which have no end of values. */
const usualDrawn = 10;

function askCount(axes: readonly Axis[], last: string | undefined): Thenable<string | undefined> {
  const all = combinations(axes);
  return vscode.window.showInputBox({
    title,
    value: last ?? String(Number.isFinite(all) ? all : usualDrawn),
    prompt: Number.isFinite(all)
      ? `Number of trials: ${all} for all combinations; of fewer, which ones is drawn`
      : 'Number of trials, whose values are drawn',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => positiveInteger(text, 'the number of trials')),
  });
}

function askMetric(words: readonly string[], last: string | undefined): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title,
    value: last !== undefined && !problemOf(() => metricOfText(words, last)) ? last : metricOf(words).name,
    prompt: 'The figure that counts. Add max or min where its name does not say which is better',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => metricOfText(words, text)),
  });
}

function askPrune(last = ''): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title,
    value: last,
    prompt: 'Stop poor trials: after how many steps, and 3 and 9 times as many, only the best third goes on',
    placeHolder: 'empty: every trial runs to its end',
    ignoreFocusOut: true,
    validateInput: (text) =>
      text === '' ? undefined : problemOf(() => positiveInteger(text, 'the number of steps')),
  });
}

/** Whether the trials go on without this window. Undefined where the question was given up. */
async function askAhead(): Promise<boolean | undefined> {
  const here = {
    label: 'This Window',
    detail: 'It starts each trial when there is room, and has to stay open',
  };
  const ahead = {
    label: 'The Nodes',
    detail: 'The trials wait there for their turn. The window may close once all are queued',
  };
  const placeHolder = 'Who starts the trials';
  const options = { title, placeHolder, ignoreFocusOut: true };
  const answer = await vscode.window.showQuickPick([here, ahead], options);
  return answer === undefined ? undefined : answer === ahead;
}

/** `val/acc`, or `my score max`. */
function figureOf(text: string): { metric: string; goal?: Goal } {
  const [, metric = '', goal] = /^(.*?)(?:\s+(max|min))?$/.exec(text.trim()) ?? [];
  return { metric, ...(goal === 'max' || goal === 'min' ? { goal } : {}) };
}

const metricOfText = (words: readonly string[], text: string): unknown => {
  const { metric, goal } = figureOf(text);
  return metricOf(words, metric, goal);
};

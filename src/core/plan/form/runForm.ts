// The form that asks for a run: what is filled in, as the run that it asks for, and back.
import type { Profile } from '../../contracts/profileSchema.js';
import { priceOf } from '../../cost/runCost.js';
import { slurmTexts, slurmWishOf } from '../../slurm/wish.js';
import { parseStage, stageText } from '../../stage/spec.js';
import { aboutOf, tagsOf } from '../request/about.js';
import { ownWishesOf } from '../request/ownWishes.js';
import { silenceTimeoutText, timeLimitOf, timeLimitText } from '../request/timeLimit.js';
import { amountOf } from '../request/budget.js';
import type { AskedRun } from '../request/commandLine.js';
import { flagValue } from '../request/flagValue.js';
import { hostListOf } from '../request/hostWish.js';
import { positiveInteger, trainerVerb, withoutFlag, withoutTrainer } from '../request/flags.js';
import type { RunFormValues } from './runFormValues.js';
import { joinWords, splitWords } from '../request/argv.js';

export type { RunFormValues };

/** The trainer's flags that matter to most: each has a field of its own. */
export const optionFlags = [
  '--epochs',
  '--batch-size',
  '--lr',
  '--optimizer',
  '--precision',
  '--eval-on',
] as const;

/** Those that mean something beside these values. */
export const optionsBeside = ({
  evalData,
}: Pick<RunFormValues, 'evalData'>): (typeof optionFlags)[number][] =>
  optionFlags.filter((name) => name !== '--eval-on' || evalData.trim() !== '');

/** The trainer's flags that other fields stand for. */
export const fieldFlags: Readonly<Record<string, keyof RunFormValues>> = {
  '--model': 'model',
  '--data': 'data',
  '--eval-data': 'evalData',
  '--device': 'device',
  '--init-weights': 'weights',
};

/** A form as it opens: a short training that works on any machine. */
export const emptyForm = (profile: string): RunFormValues => ({
  profile,
  what: 'train',
  model: 'resnet20',
  data: 'synthetic',
  evalData: '',
  weights: '',
  options: {},
  flags: '',
  device: 'auto',
  command: '',
  spread: 'one',
  folder: '',
  logdir: '',
  stage: '',
  nodes: '',
  hosts: '',
  gpus: '',
  ranks: '',
  wait: false,
  budget: '',
  budgetStop: '',
  timeLimit: '',
  silenceTimeout: '',
  share: '',
  requirements: '',
  slurm: {},
  tensorboard: false,
  name: '',
  tags: '',
  notes: '',
});

/**
 * The words of the run: a verb of the trainer with its flags, or the program's. UserError (usage)
 * for a quote that does not end.
 */
export function formWords(values: RunFormValues): string[] {
  if (values.what === 'program') return splitWords(values.command);
  const { model, data, evalData, weights, device, options } = values;
  const flag = (name: string, value: string): string[] => (value.trim() === '' ? [] : [name, value.trim()]);
  return [
    'train',
    ...flag('--model', model),
    ...flag('--data', data),
    ...flag('--eval-data', evalData),
    ...optionsBeside(values).flatMap((name) => flag(name, options[name] ?? '')),
    ...flag('--init-weights', weights),
    ...splitWords(values.flags),
    ...(device === 'auto' ? [] : flag('--device', device)),
  ];
}

/** What of a budget the form asks for. UserError (usage) for an amount that is none. */
export function askedBudget({ budget, budgetStop }: RunFormValues): Pick<AskedRun, 'budget' | 'budgetStop'> {
  const amount = budget.trim();
  return {
    ...(amount === '' ? {} : { budget: amountOf(amount, 'the budget') }),
    ...(budgetStop === '' ? {} : { budgetStop: budgetStop === 'stop' }),
  };
}

/** The time limit in seconds. UserError (usage) for a text that is none. */
export const askedTimeLimit = ({ timeLimit }: RunFormValues): Pick<AskedRun, 'timeLimit'> =>
  timeLimit.trim() === '' ? {} : { timeLimit: timeLimitOf(timeLimit, 'the time limit') };

const ownNames = { silenceTimeout: 'the limit of silence', share: 'the folder for the nodes' };

/** What only an own program has; on this machine no other node gets a folder. UserError (usage). */
export function askedOfOwn(
  values: RunFormValues,
  on: Profile,
): Pick<AskedRun, 'silenceTimeout' | 'share' | 'requirements'> {
  if (values.what !== 'program') return {};
  const filled = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim());
  const share = on.kind === 'ssh' ? filled(values.share) : undefined;
  const texts = { silenceTimeout: filled(values.silenceTimeout), share };
  const requirements = filled(values.requirements);
  return {
    ...ownWishesOf(texts, (field) => ownNames[field]),
    ...(requirements === undefined ? {} : { requirements }),
  };
}

/** What the form asks of Slurm. UserError (usage) for a value that cannot stand there. */
export function askedSlurm({ slurm }: RunFormValues): Pick<AskedRun, 'slurm'> {
  const given = Object.entries(slurm).filter(([, value]) => value.trim() !== '');
  return given.length === 0
    ? {}
    : { slurm: slurmWishOf(given.map(([key, value]) => `${key}=${value.trim()}`)) };
}

/** The hosts that are named. UserError (usage) for a list with an empty name. */
export const askedHosts = ({ hosts }: RunFormValues): Pick<AskedRun, 'hosts'> =>
  hosts.trim() === '' ? {} : { hosts: hostListOf(hosts, 'the list of hosts') };

/**
 * The run that the form asks for, on this profile. What has no field there is left out: a budget
 * without a price, Slurm's without Slurm, hosts without SSH, a stage or nodes on this machine.
 * UserError (usage) for a number that is none, a quote that does not end, and as `aboutOf`.
 */
export function askedRun(values: RunFormValues, on: Profile): AskedRun {
  const isHere = on.kind === 'local';
  const { profile, what, spread, gpus, wait, tensorboard } = values;
  const { name, tags, notes } = aboutOf({ ...values, tags: tagsOf([values.tags]) });
  const [nodes, ranks] = [values.nodes.trim(), values.ranks.trim()];
  const stage = values.stage.trim();
  const isProgram = what === 'program';
  const folder = isProgram ? values.folder.trim() : '';
  const logdir = isProgram ? values.logdir.trim() : '';
  return {
    profile,
    words: formWords(values),
    ...(ranks === '' ? {} : { ranks: positiveInteger(ranks, 'the number of ranks') }),
    ...(nodes === '' || isHere ? {} : { nodes: positiveInteger(nodes, 'the number of nodes') }),
    ...(on.kind === 'ssh' ? askedHosts(values) : {}),
    ...(isProgram && spread !== 'one' ? { per: spread } : {}),
    ...(gpus.trim() === '' ? {} : { gpus: gpus.trim() }),
    ...(wait && on.kind !== 'slurm' ? { wait } : {}),
    ...(priceOf(on) === undefined ? {} : askedBudget(values)),
    ...askedTimeLimit(values),
    ...askedOfOwn(values, on),
    ...(on.kind === 'slurm' ? askedSlurm(values) : {}),
    ...(tensorboard ? { tensorboard } : {}),
    ...(name === '' ? {} : { name }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(notes === '' ? {} : { notes }),
    ...(folder === '' ? {} : isHere ? { cwd: folder } : { codeFolder: folder }),
    ...(logdir === '' ? {} : { logdir }),
    ...(stage === '' || isHere ? {} : { stage: parseStage(stage) }),
  };
}

/** The form that asks for this run: of an earlier one, or of a preset. */
export function formOf(run: AskedRun): RunFormValues {
  const words = withoutTrainer(run.words);
  const trains = trainerVerb(words) === 'train';
  return {
    ...emptyForm(run.profile),
    ...(trains
      ? trainingOf(run.evaluator === false ? withoutFlag(words, '--eval-data', '--eval-on') : words)
      : { what: 'program', command: joinWords(words) }),
    spread: run.per ?? 'one',
    folder: run.codeFolder ?? (trains ? '' : (run.cwd ?? '')),
    logdir: run.logdir ?? '',
    stage: run.stage === undefined ? '' : stageText(run.stage),
    nodes: numberText(run.nodes),
    hosts: (run.hosts ?? []).join(','),
    gpus: run.gpus ?? '',
    ranks: numberText(run.ranks),
    wait: run.wait ?? false,
    budget: numberText(run.budget),
    budgetStop: run.budgetStop === undefined ? '' : run.budgetStop ? 'stop' : 'goOn',
    timeLimit: run.timeLimit === undefined ? '' : timeLimitText(run.timeLimit),
    silenceTimeout: run.silenceTimeout === undefined ? '' : silenceTimeoutText(run.silenceTimeout),
    share: run.share ?? '',
    requirements: run.requirements ?? '',
    slurm: Object.fromEntries(slurmTexts(run.slurm ?? {}).map((text) => splitOnce(text))),
    tensorboard: run.tensorboard ?? false,
    name: run.name ?? '',
    tags: (run.tags ?? []).join(', '),
    notes: run.notes ?? '',
  };
}

/** `KEY=VALUE`. */
const splitOnce = (text: string): [string, string] => {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
};

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value));

/** A flag that is given twice stays among the further ones, where it is refused. */
function trainingOf(words: readonly string[]): Partial<RunFormValues> {
  let rest = words.slice(1);
  const take = (name: string): string => {
    const given = rest.filter((word) => word === name || word.startsWith(`${name}=`)).length;
    const value = given === 1 ? flagValue(rest, name) : undefined;
    if (value === undefined) return '';
    rest = withoutFlag(rest, name);
    return value;
  };
  const fields = Object.fromEntries(
    Object.entries(fieldFlags).map(([name, field]) => [field, take(name)]),
  ) as Pick<RunFormValues, 'model' | 'data' | 'evalData' | 'device' | 'weights'>;
  const options = Object.fromEntries(
    optionFlags.map((name) => [name, take(name)]).filter(([, value]) => value !== ''),
  ) as Record<string, string>;
  return { what: 'train', ...fields, device: fields.device || 'auto', options, flags: joinWords(rest) };
}

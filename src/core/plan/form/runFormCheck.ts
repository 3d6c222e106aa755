// What is wrong with a form that asks for a run, field by field, before anything is started.
import { UserError } from '../../base/errors.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { priceOf } from '../../cost/runCost.js';
import { parseStage } from '../../stage/spec.js';
import { aboutOf, tagsOf } from '../request/about.js';
import { budgetOf } from '../request/budget.js';
import { positiveInteger } from '../request/flags.js';
import { flagProblems } from '../request/flagCheck.js';
import { gpuWishOf } from '../request/gpuWish.js';
import { wishedHosts } from '../request/hostWish.js';
import { requestOf, type RunRequest } from '../request/request.js';
import {
  askedBudget,
  askedHosts,
  askedOfOwn,
  askedRun,
  askedSlurm,
  askedTimeLimit,
  fieldFlags,
  formWords,
  optionFlags,
  type RunFormValues,
} from './runForm.js';
import { withTrainDefaults } from '../request/trainDefaults.js';
import type { TrainerFlag } from '../request/trainerHelp.js';
import { splitWords } from '../request/argv.js';

/** One thing that is wrong. */
export interface FormProblem {
  /**
   * A field of `RunFormValues`, a flag of `optionFlags`, `slurm.KEY`, or empty for the form as a
   * whole.
   */
  field: string;
  error: UserError;
  /** Nothing is filled in yet. */
  missing?: boolean;
}

/** What a form asks for, or what is wrong with it. */
export type CheckedForm = { request: RunRequest; problems: [] } | { problems: FormProblem[] };

/**
 * All problems, in the order of the fields. `flags`: of the trainer's `train`; undefined while
 * nobody knows them, and then its flags are not judged. `cwd`: against which this machine's
 * relative paths are read.
 */
export function checkForm(
  values: RunFormValues,
  profile: Profile,
  { flags, cwd }: { flags: readonly TrainerFlag[] | undefined; cwd: string },
): CheckedForm {
  const problems: FormProblem[] = [];
  const attempt = (field: string, work: () => unknown): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push({ field, error });
    }
  };
  const need = (field: 'command' | 'model' | 'data', what: string, hint: string): void => {
    if (values[field].trim() !== '') return;
    problems.push({ field, error: new UserError('usage', what, hint), missing: true });
  };
  if (values.what === 'program') {
    need('command', 'there is nothing to run', 'Write the command line of your program');
    attempt('command', () => splitWords(values.command));
  } else {
    need('model', 'no model is chosen', 'Choose one');
    need('data', 'no data is chosen', 'Name a folder of images on the node, or synthetic');
    attempt('flags', () => splitWords(values.flags));
    if (flags) problems.push(...ofFlags(values, flags));
  }
  if (values.ranks.trim() !== '') {
    attempt('ranks', () => positiveInteger(values.ranks.trim(), 'the number of ranks'));
  }
  if (profile.kind !== 'local') {
    attempt('nodes', () => {
      checkNodes(values.nodes.trim(), profile);
    });
  }
  if (profile.kind === 'ssh') {
    const nodes = values.nodes.trim() === '' ? {} : { nodes: 1 };
    attempt('hosts', () => wishedHosts({ profile, ...nodes, ...askedHosts(values) }));
  }
  if (priceOf(profile) !== undefined) {
    attempt('budget', () => budgetOf({ profile, ...askedBudget(values) }));
  }
  attempt('timeLimit', () => askedTimeLimit(values));
  attempt('silenceTimeout', () => askedOfOwn({ ...values, share: '' }, profile));
  attempt('share', () => askedOfOwn({ ...values, silenceTimeout: '' }, profile));
  if (profile.kind === 'slurm') {
    for (const [key, value] of Object.entries(values.slurm)) {
      attempt(`slurm.${key}`, () => askedSlurm({ ...values, slurm: { [key]: value } }));
    }
  }
  if (values.stage.trim() !== '' && profile.kind !== 'local') {
    attempt('stage', () => parseStage(values.stage.trim()));
  }
  if (values.gpus.trim() !== '') attempt('gpus', () => gpuWishOf(values.gpus.trim(), 'the wish for GPUs'));
  attempt('name', () => aboutOf({ name: values.name }));
  attempt('tags', () => aboutOf({ tags: tagsOf([values.tags]) }));
  attempt('notes', () => aboutOf({ notes: values.notes }));
  if (problems.length > 0) return { problems };
  try {
    const asked = withTrainDefaults(askedRun(values, profile), profile);
    return { request: requestOf({ ...asked, profile, cwd: asked.cwd ?? cwd }), problems: [] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { problems: [{ field: '', error }] };
  }
}

/** What the trainer would say of its flags, each at its field. */
function ofFlags(values: RunFormValues, flags: readonly TrainerFlag[]): FormProblem[] {
  let words: string[];
  try {
    words = formWords(values).slice(1);
  } catch {
    return []; // the quote that does not end is told at its field
  }
  const owned: readonly string[] = optionFlags;
  return flagProblems(words, flags).map(({ flag, what, hint }) => ({
    field: owned.includes(flag) ? flag : (fieldFlags[flag] ?? 'flags'),
    error: new UserError('usage', what, hint),
  }));
}

/** Of Slurm nobody knows here how many nodes it has. */
function checkNodes(text: string, { name, kind, hosts = [] }: Profile): void {
  if (text === '') return;
  const nodes = positiveInteger(text, 'the number of nodes');
  if (kind === 'slurm' || nodes <= hosts.length) return;
  throw new UserError('usage', `profile ${name} has ${hosts.length} nodes, not ${nodes}`, 'Use fewer');
}

// The command line that starts a run, for people to copy.
import { slurmTexts } from '../../slurm/wish.js';
import { stageText } from '../../stage/spec.js';
import { silenceTimeoutText, timeLimitText } from './timeLimit.js';
import type { TypedRun } from './request.js';

/** A run as it is asked for, before its profile and its code are looked up. */
export interface AskedRun extends Omit<TypedRun, 'profile' | 'cwd' | 'code' | 'label' | 'report'> {
  /** The profile's name. */
  profile: string;
  /** A folder of this machine that goes along. */
  codeFolder?: string;
  /** The folder of this machine in which an own program starts, where that is not told. */
  cwd?: string;
}

/** A flag of the command line without its dashes, and its value where it takes one. */
type GivenFlag = [name: string, value?: string];

/** For a POSIX shell. `trainyard run` reads the same run out of it. */
export function commandLineOf(run: AskedRun): string {
  const flags = runFlags(run).flatMap(([name, value]) =>
    value === undefined ? [`--${name}`] : valued(`--${name}`, value),
  );
  const line = ['trainyard', 'run', run.profile, ...flags, '--', ...run.words].map(quoted).join(' ');
  return run.cwd === undefined ? line : `cd ${quoted(run.cwd)} && ${line}`;
}

/** All that stands before the command of the run. */
export function runFlags(run: AskedRun): GivenFlag[] {
  const { runDir, ranks, nodes, hosts, per, gpus, wait, detached, budget, budgetStop, timeLimit } = run;
  const {
    silenceTimeout,
    share,
    requirements,
    slurm = {},
    name,
    tags = [],
    notes,
    codeFolder,
    stage,
    logdir,
  } = run;
  const given = (flag: string, value: string | undefined): GivenFlag[] =>
    value === undefined ? [] : [[flag, value]];
  const set = (isSet: boolean, flag: string): GivenFlag[] => (isSet ? [[flag]] : []);
  return [
    ...given('run-dir', runDir),
    ...given('ranks', ranks?.toString()),
    ...given('nodes', nodes?.toString()),
    ...given('hosts', hosts?.join(',')),
    ...set(per !== undefined, `per-${per ?? ''}`),
    ...given('gpus', gpus),
    ...set(wait === true, 'wait'),
    ...set(detached === true, 'detach'),
    ...given('budget', budget?.toString()),
    ...set(budgetStop !== undefined, budgetStop === true ? 'budget-stop' : 'no-budget-stop'),
    ...given('time-limit', timeLimit === undefined ? undefined : timeLimitText(timeLimit)),
    ...given(
      'silence-timeout',
      silenceTimeout === undefined ? undefined : silenceTimeoutText(silenceTimeout),
    ),
    ...given('share', share),
    ...given('requirements', requirements),
    ...given('debug', run.debug?.toString()),
    ...slurmTexts(slurm).flatMap((text) => given('slurm', text)),
    ...given('name', name),
    ...tags.flatMap((tag) => given('tag', tag)),
    ...given('notes', notes),
    ...given('code', codeFolder),
    ...given('stage', stage && stageText(stage)),
    ...given('logdir', logdir),
    ...set(run.tensorboard === true, 'tensorboard'),
    ...set(run.evaluator === false, 'no-evaluator'),
  ];
}

/** A value that begins with a dash would be taken for a flag. */
const valued = (flag: string, value: string): string[] =>
  value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];

const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

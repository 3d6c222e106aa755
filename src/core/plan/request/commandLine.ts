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

/** For a POSIX shell. `trainyard run` reads the same run out of it. */
export function commandLineOf(run: AskedRun): string {
  const { profile, runDir, ranks, nodes, hosts, per, gpus, wait, name, tags = [], notes } = run;
  const {
    codeFolder,
    logdir,
    tensorboard,
    evaluator,
    cwd,
    stage,
    budget,
    budgetStop,
    timeLimit,
    silenceTimeout,
    slurm = {},
  } = run;
  const words = [
    ...['trainyard', 'run', profile],
    ...(runDir === undefined ? [] : ['--run-dir', runDir]),
    ...(ranks === undefined ? [] : ['--ranks', String(ranks)]),
    ...(nodes === undefined ? [] : ['--nodes', String(nodes)]),
    ...(hosts === undefined ? [] : ['--hosts', hosts.join(',')]),
    ...(per === undefined ? [] : [`--per-${per}`]),
    ...(gpus === undefined ? [] : ['--gpus', gpus]),
    ...(wait === true ? ['--wait'] : []),
    ...(budget === undefined ? [] : ['--budget', String(budget)]),
    ...(budgetStop === undefined ? [] : [budgetStop ? '--budget-stop' : '--no-budget-stop']),
    ...(timeLimit === undefined ? [] : ['--time-limit', timeLimitText(timeLimit)]),
    ...(silenceTimeout === undefined ? [] : ['--silence-timeout', silenceTimeoutText(silenceTimeout)]),
    ...slurmTexts(slurm).flatMap((text) => ['--slurm', text]),
    ...(name === undefined ? [] : valued('--name', name)),
    ...tags.flatMap((tag) => valued('--tag', tag)),
    ...(notes === undefined ? [] : valued('--notes', notes)),
    ...(codeFolder === undefined ? [] : valued('--code', codeFolder)),
    ...(stage === undefined ? [] : ['--stage', stageText(stage)]),
    ...(logdir === undefined ? [] : valued('--logdir', logdir)),
    ...(tensorboard === true ? ['--tensorboard'] : []),
    ...(evaluator === false ? ['--no-evaluator'] : []),
    ...['--', ...run.words],
  ];
  const line = words.map(quoted).join(' ');
  return cwd === undefined ? line : `cd ${quoted(cwd)} && ${line}`;
}

/** A value that begins with a dash would be taken for a flag. */
const valued = (flag: string, value: string): string[] =>
  value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];

const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

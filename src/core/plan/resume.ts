// How a run that was interrupted goes on: by being started again in its folder, from its newest
// valid checkpoint.
import type { RunEntry } from '../contracts/agentApi.js';
import { typedOf } from './request.js';

/**
 * The command line, for a POSIX shell; undefined where the folder's run.json is not there to tell
 * of it.
 */
export function resumeCommand(
  { run, dir }: Pick<RunEntry, 'run' | 'dir'>,
  profile: string,
): string | undefined {
  if (!run) return undefined;
  const { words: again, ranks, nodes, per, gpus, tensorboard, evaluator, logdir } = typedOf(run);
  const words = [
    ...['trainyard', 'run', profile, '--run-dir', dir, '--ranks', String(ranks)],
    ...(nodes === undefined ? [] : ['--nodes', String(nodes)]),
    ...(per === undefined ? [] : [`--per-${per}`]),
    ...(gpus === undefined ? [] : ['--gpus', gpus]),
    ...(logdir === undefined ? [] : ['--logdir', logdir]),
    ...(tensorboard ? ['--tensorboard'] : []),
    ...(evaluator ? [] : ['--no-evaluator']),
    ...['--', ...again],
  ];
  return words.map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

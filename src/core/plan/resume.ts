// How a run that was interrupted goes on: by being started again in its folder, from its newest
// valid checkpoint.
import type { RunEntry } from '../contracts/agentApi.js';

/**
 * The command line, for a POSIX shell; undefined where the folder's run.json is not there to tell
 * of it.
 */
export function resumeCommand(
  { run, dir }: Pick<RunEntry, 'run' | 'dir'>,
  profile: string,
): string | undefined {
  if (!run) return undefined;
  const nodes = run.nodes === undefined ? [] : ['--nodes', String(run.nodes.length)];
  const words = [
    ...['trainyard', 'run', profile, '--run-dir', dir, '--ranks', String(run.ranks), ...nodes],
    ...(run.tensorboard ? ['--tensorboard'] : []),
    ...(run.evaluator === null && run.argv.includes('--eval-data') ? ['--no-evaluator'] : []),
    ...['--', ...run.argv],
  ];
  return words.map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

// The images on which a run's checkpoints are evaluated.
import { isInHome, withHome, type NodePath } from '../base/nodePath.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { flagValue } from './request/flagValue.js';

/** Those of the run itself, as its record names them. */
export function evaluationData({ run }: Pick<RunEntry, 'run'>): string | undefined {
  if (run?.program !== 'trainer') return undefined;
  return flagValue(run.evaluator?.argv ?? [], '--data') ?? flagValue(run.argv, '--eval-data');
}

/** As the trainer is given them on the head, whose home folder is `home`: it knows no `~`. */
export const onHead = (data: string, home: NodePath | undefined): string =>
  home !== undefined && isInHome(data) ? withHome(home, data) : data;

// One more process in a job that runs: srun, as a shell or a program of the login node starts it.
import { UserError } from '../base/errors.js';
import type { RunDetails } from '../contracts/agentApi.js';

/** A compute node of Slurm's, and the job that has it. */
export interface AllocatedNode {
  job: string;
  host: string;
}

/**
 * The compute nodes that a run has now, the first one first; none before its job begins and after
 * it.
 */
export function nodesNow({ run, queue }: Pick<RunDetails, 'run' | 'queue'>): AllocatedNode[] {
  if (queue?.kind !== 'running' || run?.launcher === 'slurm') return [];
  return (run?.nodes ?? []).map(({ host }) => ({ job: queue.job, host }));
}

/** UserError (usage) for what cannot be a node's name: shells read it. */
function stepWords({ job, host }: AllocatedNode, ...more: string[]): string[] {
  if (!/^\d+$/.test(job) || !/^\w[\w.-]*$/.test(host)) {
    throw new UserError('usage', `${host} of job ${job} is no name of a node`, 'Name a node of the run');
  }
  const size = ['--nodes=1', '--ntasks=1', '--cpu-bind=none'];
  return ['srun', `--jobid=${job}`, `--nodelist=${host}`, '--overlap', ...more, ...size];
}

/**
 * Begins a command line that runs on the node beside what the job runs there, in the terminal that
 * it is typed in. UserError (usage) for what cannot be a node's name.
 */
export function terminalStep(at: AllocatedNode): string {
  return stepWords(at, '--pty').join(' ');
}

/**
 * srun is on PATH, or where clusters have it that set PATH for a login shell with a terminal alone.
 */
const findSrun =
  'PATH="$PATH:/usr/bin:/usr/local/bin:/opt/slurm/bin:/usr/local/slurm/bin:/cm/shared/apps/slurm/current/bin" exec srun "$@"';

/**
 * The words of a program that gives `command` to a shell of the node, beside what the job runs
 * there. Its bytes pass as they are: without `--unbuffered` Slurm waits for the end of a line.
 * UserError (usage) for what cannot be a node's name.
 */
export function programStep(at: AllocatedNode, command: string): string[] {
  return ['sh', '-c', findSrun, ...stepWords(at, '--unbuffered', '--quiet'), 'sh', '-c', command];
}

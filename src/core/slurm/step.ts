// One more process in a job that runs: srun, as it is typed into a shell of the login node.
import { UserError } from '../base/errors.js';

/** A compute node of Slurm's, and the job that has it. */
export interface AllocatedNode {
  job: string;
  host: string;
}

/**
 * Begins a command line that runs on the node beside what the job runs there, in the terminal that it
 * is typed in. UserError (usage) for what cannot be a node's name.
 */
export function terminalStep({ job, host }: AllocatedNode): string {
  // A shell reads both.
  if (!/^\d+$/.test(job) || !/^\w[\w.-]*$/.test(host)) {
    throw new UserError('usage', `${host} of job ${job} is no name of a node`, 'Name a node of the run');
  }
  const options = ['--overlap', '--pty', '--nodes=1', '--ntasks=1', '--cpu-bind=none'];
  return ['srun', `--jobid=${job}`, `--nodelist=${host}`, ...options].join(' ');
}

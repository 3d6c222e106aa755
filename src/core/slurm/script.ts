// The batch script of a run: what sbatch reads, and one command, which never changes.
import type { NodePath } from '../base/nodePath.js';
import { stopAheadOf, type SlurmFields } from './options.js';

/** The script that was sent, in the run's folder. */
export const batchScriptName = 'slurm.sh';

/** What one job is. */
export interface BatchJob {
  /** The run's id, which is the job's name. */
  name: string;
  fields: SlurmFields;
  nodes: number;
  /** Ranks of a node, at most. */
  tasksPerNode: number;
  /** The run's folder, on a disk that login node and compute nodes see. */
  dir: NodePath;
  /** The program that the job runs on its first node: interpreter and file. */
  python: NodePath;
  program: NodePath;
}

/**
 * A value as sbatch reads it in a script: within double quotes, where a backslash takes the next
 * character as it is. TypeError for a control character, which no check lets through to here.
 */
function sbatchValue(value: string): string {
  if (/\p{Cc}/u.test(value)) throw new TypeError('a control character cannot stand in a batch script');
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** A word for a shell: within single quotes nothing means anything. */
const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The options of the job, a line each, those that a run depends on last: the last one counts. */
function optionLines({ name, fields, nodes, tasksPerNode, dir }: BatchJob): string[] {
  const { partition, account, qos, gres, gpusPerNode, constraint, time, exclusive, cpusPerTask } = fields;
  const value = (flag: string, given: string | undefined): string[] =>
    given === undefined ? [] : [`--${flag}=${sbatchValue(given)}`];
  const number = (flag: string, given: number | undefined): string[] =>
    given === undefined ? [] : [`--${flag}=${given}`];
  return [
    ...value('partition', partition),
    ...value('account', account),
    ...value('qos', qos),
    ...value('constraint', constraint),
    ...value('gres', gres),
    ...number('gpus-per-node', gpusPerNode),
    ...value('time', time),
    ...(exclusive === true ? ['--exclusive'] : []),
    ...(fields.lines ?? []),
    ...value('job-name', name),
    ...number('nodes', nodes),
    ...number('ntasks-per-node', tasksPerNode),
    ...number('cpus-per-task', cpusPerTask),
    // Of a file's name sbatch replaces %j and others.
    ...value('output', `${dir.replaceAll('%', '%%')}/slurm.log`),
    '--open-mode=append',
    `--signal=B:USR1@${stopAheadOf(fields)}`,
    fields.requeue === true ? '--requeue' : '--no-requeue',
  ];
}

/** The whole script. No value of a user or a profile stands where a shell reads it. */
export function batchScript(job: BatchJob): string {
  const words = [job.python, job.program, job.dir].map(shellWord).join(' ');
  return ['#!/bin/bash', ...optionLines(job).map((line) => `#SBATCH ${line}`), `exec ${words}`, ''].join(
    '\n',
  );
}

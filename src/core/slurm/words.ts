// Slurm's words for why a job waits and how it ended, in words for people.
import type { SlurmEnd } from '../contracts/slurmSchema.js';

const waiting: Readonly<Record<string, string>> = {
  Resources: 'it is next, and waits for nodes to be free',
  Priority: 'jobs of higher priority come first',
  None: 'Slurm has not looked at it yet',
  BeginTime: 'its earliest start has not come yet',
  Dependency: 'it waits for another job',
  DependencyNeverSatisfied: 'the job that it waits for did not end as it should',
  JobHeldUser: 'its owner holds it',
  JobHeldAdmin: 'an administrator holds it',
  JobHoldMaxRequeue: 'it was requeued too often, and is held',
  Licenses: 'it waits for a licence',
  Reservation: 'it waits for its reservation',
  ReqNodeNotAvail: 'nodes that it needs are down, drained or reserved',
  NodeDown: 'a node that it needs is down',
  BadConstraints: 'no node has what it asks for',
  PartitionDown: 'the partition is down',
  PartitionInactive: 'the partition starts no jobs now',
  PartitionNodeLimit: 'it asks for more nodes than the partition has or allows',
  PartitionTimeLimit: 'it asks for more time than the partition allows',
  PartitionConfig: 'the partition does not allow what it asks for',
  AccountNotAllowed: 'the account may not use the partition',
  InvalidAccount: 'there is no such account',
  InvalidQOS: 'there is no such QOS',
  QOSNotAllowed: 'the QOS may not be used here',
  QOSJobLimit: 'the QOS has as many jobs as it may have',
  QOSResourceLimit: 'the QOS has as much as it may have',
  QOSTimeLimit: 'it asks for more time than the QOS allows',
  AssociationJobLimit: 'the account has as many jobs as it may have',
  AssociationResourceLimit: 'the account has as much as it may have',
  AssociationTimeLimit: 'it asks for more time than the account allows',
  AssocMaxJobsLimit: 'the account has as many jobs as it may have',
  Cleaning: 'what its earlier start left is being cleaned up',
  InactiveLimit: 'it reached the limit of inactivity',
  FrontEndDown: 'the front end is down',
  Prolog: 'the prolog runs',
  JobArrayTaskLimit: 'its array has as many tasks as it may have',
  SystemFailure: 'Slurm, the file system or the network failed',
  JobLaunchFailure: 'the job could not be launched',
  BurstBufferResources: 'it waits for the burst buffer',
  BurstBufferStageIn: 'its files are being staged in',
  RequeuedHold: 'it was requeued, and is held',
};

/** Reasons that do not pass while the job, the partition and the account stay as they are. */
const neverPass = new Set([
  'AccountNotAllowed',
  'AssociationTimeLimit',
  'BadConstraints',
  'DependencyNeverSatisfied',
  'InvalidAccount',
  'InvalidQOS',
  'PartitionConfig',
  'PartitionNodeLimit',
  'PartitionTimeLimit',
  'QOSNotAllowed',
  'QOSTimeLimit',
]);
const whatToDo = 'it will not start so. Stop it, and ask for something else';

/** Of limits there are many: who has one, and of what. */
const owners: readonly (readonly [RegExp, string])[] = [
  [/^QOS/, 'the QOS'],
  [/^Assoc/, 'the account'],
];
const kinds: readonly (readonly [RegExp, string])[] = [
  [/GRES|Gres/, 'GPUs'],
  [/Cpu|CPU/, 'CPUs'],
  [/Node/, 'nodes'],
  [/Mem/, 'memory'],
  [/Wall/, 'time'],
  [/Jobs?|Submit/, 'jobs'],
];

/** Limits of a single job, which no end of another job lifts: QOSMaxCpuPerJobLimit, AssocMaxNodePerJobLimit. */
const isOfOneJob = (word: string): boolean => /^(?:QOS|Assoc)(?:Max\w*PerJob|Min)/.test(word);

/**
 * Why a job waits, and what to do where it would wait for ever. A reason that this version does not
 * know is given as it is, so nothing is lost.
 */
export function waitingWords(reason: string): string {
  const [word = ''] = /^\w+/.exec(reason) ?? [];
  if (word === '') return waiting['None'] ?? '';
  const words = reasonWords(word, reason);
  return neverPass.has(word) || isOfOneJob(word) ? `${words}: ${whatToDo}` : words;
}

function reasonWords(word: string, reason: string): string {
  const known = waiting[word];
  const more = /^\w+,\s*(.+)$/.exec(reason)?.[1];
  if (known !== undefined) return more === undefined ? known : `${known} (${more})`;
  const owner = owners.find(([pattern]) => pattern.test(word))?.[1];
  const kind = kinds.find(([pattern]) => pattern.test(word))?.[1];
  if (owner === undefined || kind === undefined || !/Max|Grp|Min/.test(word)) return reason;
  const person = word.includes('PerUser') ? ' for you' : '';
  if (word.includes('Min')) return `${owner} asks for more ${kind} than it has (${word})`;
  return `${owner} has as many ${kind}${person} as it may have (${word})`;
}

const ended: Readonly<Record<string, string>> = {
  BOOT_FAIL: 'its node did not come up',
  CANCELLED: 'it was cancelled',
  COMPLETED: 'it ended by itself',
  DEADLINE: 'its deadline came',
  FAILED: 'its script failed',
  LAUNCH_FAILED: 'it could not be launched',
  NODE_FAIL: 'a node failed',
  OUT_OF_MEMORY: 'it ran out of memory',
  PREEMPTED: 'a job of higher priority took its nodes',
  RECONFIG_FAIL: 'its node could not be configured',
  REVOKED: 'another cluster runs it',
  REQUEUED: 'somebody gave it to the queue again',
  TIME_LIMIT_NEAR: 'its time limit was near',
  TIMEOUT: 'it reached its time limit',
};

/** How a job ended, from Slurm's state of it. */
export function endedWords({ state, exitCode = 0, signal = 0, detail }: SlurmEnd): string {
  const words = ended[state] ?? `Slurm calls it ${state}`;
  if (state !== 'FAILED') return detail === undefined ? words : `${words} (${detail})`;
  return signal > 0 ? `${words} by signal ${signal}` : `${words} with exit code ${exitCode}`;
}

// What the run form's page shows of Slurm: the fields that a run may give for itself, with what the
// profile says of each, and how large the run is.
import { plural } from '../../core/base/plural.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { SlurmWish } from '../../core/contracts/slurmSchema.js';
import type { RunFormValues } from '../../core/plan/form/runForm.js';
import type { RunRequest } from '../../core/plan/request/request.js';
import { allocationOf } from '../../core/slurm/allocation.js';
import { partitionWords, type Partition } from '../../core/slurm/partitions.js';
import { slurmKeys } from '../../core/slurm/wish.js';
import type { FormChoice, FormSlurmField } from '../../webview/formProtocol.js';

const about: Record<keyof SlurmWish, { label: string; help: string }> = {
  partition: { label: 'Partition', help: '' },
  account: { label: 'Account', help: '' },
  qos: { label: 'QOS', help: '' },
  gres: { label: 'GRES of each node', help: 'For example gpu:a100:4.' },
  constraint: { label: 'Constraint', help: 'Features that nodes must have.' },
  time: { label: 'Time limit', help: 'For example 8:00:00 or 2-12.' },
  exclusive: { label: 'Whole nodes', help: '' },
  requeue: { label: 'Goes on later', help: 'Where its time limit or another job ends it.' },
};

/** Empty of a profile that is none of Slurm. `partitions`: as far as they are known. */
export function slurmFields(
  { kind, slurm = {} }: Profile,
  { slurm: given }: RunFormValues,
  partitions: readonly Partition[],
): FormSlurmField[] {
  if (kind !== 'slurm') return [];
  return slurmKeys.map((key) => {
    const usual = slurm[key];
    const isSwitch = key === 'exclusive' || key === 'requeue';
    const text = usual === undefined ? '' : isSwitch ? (usual === true ? 'yes' : 'no') : String(usual);
    const choices = isSwitch
      ? switchChoices(usual === true)
      : key === 'partition'
        ? partitionChoices(partitions, text, given[key] ?? '')
        : [];
    return { key, ...about[key], initial: text, choices };
  });
}

const switchChoices = (usual: boolean): FormChoice[] => [
  { value: '', label: `${usual ? 'yes' : 'no'} (of the profile)`, group: '' },
  { value: 'true', label: 'yes', group: '' },
  { value: 'false', label: 'no', group: '' },
];

/** None as long as nobody knows them: then a name is typed. */
function partitionChoices(partitions: readonly Partition[], usual: string, given: string): FormChoice[] {
  if (partitions.length === 0) return [];
  const ofProfile = usual === '' ? "the cluster's default" : `${usual} (of the profile)`;
  const known = partitions.some(({ name }) => name === given);
  return [
    { value: '', label: ofProfile, group: '' },
    ...(given === '' || known ? [] : [{ value: given, label: given, group: '' }]),
    ...partitions.map((partition) => ({
      value: partition.name,
      label: `${partition.name} · ${partitionWords(partition)}`,
      group: '',
    })),
  ];
}

/** What Slurm would be asked for. UserError (usage) for GPUs by their numbers. */
export function allocationText(request: RunRequest): string {
  const { nodes, gpusPerNode, fields } = allocationOf(request);
  const gpus = gpusPerNode === 0 ? '' : ` with ${plural(gpusPerNode, 'GPU')} each`;
  const partition = fields.partition ?? 'the default partition';
  const time = fields.time === undefined ? '' : `, for at most ${fields.time}`;
  return `${plural(nodes, 'node')}${gpus} of ${partition}${time}.`;
}

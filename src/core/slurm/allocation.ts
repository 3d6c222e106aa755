// How large an allocation a request needs.
import { UserError } from '../base/errors.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { SlurmWish } from '../contracts/slurmSchema.js';
import { gpusOfPart } from './gres.js';
import { gpusPerNodeOf, type SlurmFields } from './options.js';
import { slurmFieldsOf } from './wish.js';

/** What of a request says how large it is. `gpus` is the number of GPUs of each node. */
export interface WantedSize {
  profile: Profile;
  ranks: number | undefined;
  nodes: number | undefined;
  gpus: { count: number; indices?: readonly number[] | undefined } | undefined;
  /** In place of the profile's fields. */
  slurm?: SlurmWish | undefined;
}

/** The nodes of an allocation, all alike. */
export interface Allocation {
  fields: SlurmFields;
  nodes: number;
  /** Ranks that fit on a node; undefined where the profile says nothing: one for each GPU, else one. */
  slots: number | undefined;
  gpusPerNode: number;
  cpusPerTask: number;
}

/** The same fields with another number of GPUs, of the type that the profile names. */
function withGpus(fields: SlurmFields, count: number): SlurmFields {
  const { gres, ...others } = fields;
  const parts = (gres ?? '').split(',').filter((part) => part !== '');
  const isGpu = (part: string): boolean => gpusOfPart(part) !== undefined;
  const rest = parts.filter((part) => !isGpu(part));
  const type = gpusOfPart(parts.find(isGpu) ?? '')?.type ?? '';
  if (gres === undefined || type === '') {
    return { ...others, gpusPerNode: count, ...(rest.length === 0 ? {} : { gres: rest.join(',') }) };
  }
  return { ...others, gpusPerNode: undefined, gres: [`gpu:${type}:${count}`, ...rest].join(',') };
}

/**
 * As many nodes as were asked for, else as the ranks take, else as the profile says, else one.
 * Where no number was asked for, `maxNodes` of the profile is the most.
 * UserError (usage) for GPUs by their numbers, which Slurm gives out itself.
 */
export function allocationOf({ profile, ranks, nodes, gpus, slurm }: WantedSize): Allocation {
  if (gpus?.indices !== undefined) {
    throw new UserError('usage', 'GPUs were named by their numbers, and Slurm chooses them', 'Name how many');
  }
  const given = slurmFieldsOf(profile, slurm);
  const fields = gpus === undefined ? given : withGpus(given, gpus.count);
  const head = profile.hosts?.find(({ host }) => host === profile.head) ?? profile.hosts?.[0];
  const gpusPerNode = gpusPerNodeOf(fields);
  const slots = head?.slots;
  const perNode = slots ?? Math.max(1, gpusPerNode);
  const usual = fields.nodes ?? 1;
  const wanted = ranks === undefined ? usual : Math.ceil(ranks / perNode);
  return {
    fields,
    nodes: nodes ?? Math.min(wanted, profile.maxNodes ?? wanted),
    slots,
    gpusPerNode,
    cpusPerTask: fields.cpusPerTask ?? 1,
  };
}

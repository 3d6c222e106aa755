// What an earlier run asked for that its profile cannot give, since it is of another kind by now.
import { plural } from '../../base/plural.js';
import type { Profile } from '../../contracts/profileSchema.js';
import type { TypedRun } from './request.js';

/** What some kinds of profiles cannot give. */
interface AskedOfKind extends Pick<TypedRun, 'hosts' | 'nodes'> {
  /** `KEY=VALUE`, as asked of Slurm. */
  slurm?: readonly string[];
}

/** What of an earlier run its profile cannot give. */
interface OtherKind {
  /** What that is and why, in words without the full stop. */
  what: string;
  /** The fields to leave out, `ranks` among them where that was the number on other nodes. */
  fields: readonly ('hosts' | 'nodes' | 'ranks' | 'slurm')[];
}

/** Undefined where the profile can give all. */
export function otherKind(
  { name, kind }: Profile,
  { hosts, nodes = 1, slurm = [] }: AskedOfKind,
): OtherKind | undefined {
  const ofHosts = hosts !== undefined && kind !== 'ssh';
  const ofNodes = nodes > 1 && kind === 'local';
  const ofSlurm = slurm.length > 0 && kind !== 'slurm';
  const asked = [
    ...(ofHosts ? [`the ${hosts.length === 1 ? 'host' : 'hosts'} ${hosts.join(', ')}`] : []),
    ...(ofNodes ? [plural(nodes, 'node')] : []),
    ...(ofSlurm ? [`${slurm.join(', ')} of Slurm`] : []),
  ];
  if (asked.length === 0) return undefined;
  const fields = [
    ...(ofHosts ? (['hosts'] as const) : []),
    ...(ofNodes ? (['nodes'] as const) : []),
    ...(kind === 'local' && (ofHosts || ofNodes) ? (['ranks'] as const) : []),
    ...(ofSlurm ? (['slurm'] as const) : []),
  ];
  return { what: `the run asked for ${asked.join(' and ')}, and ${isNow[kind](name)}`, fields };
}

const isNow = {
  local: (name: string) => `profile ${name} is this machine alone now`,
  ssh: (name: string) => `profile ${name} has no queue of Slurm now`,
  slurm: (name: string) => `Slurm chooses the nodes of profile ${name} now`,
} satisfies Record<Profile['kind'], (name: string) => string>;

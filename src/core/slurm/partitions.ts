// A cluster's partitions with what is free of them now.
import type { Profile } from '../contracts/profileSchema.js';
import { gpusOf, type GpuCount } from './gres.js';
import { parseSinfo, parseSinfoJson, type NodeGroup } from './sinfo.js';
import { lengthText } from './stand.js';

/** GPUs of one type of a partition. */
interface PartitionGpus {
  /** Empty where the cluster names no types. */
  type: string;
  total: number;
  /** Undefined where Slurm does not say which are in use. */
  free: number | undefined;
}

/** One partition, as somebody chooses among them. */
export interface Partition {
  name: string;
  isDefault: boolean;
  /** Whether it takes jobs. */
  isUp: boolean;
  /** Seconds; undefined without a limit. */
  timeLimit: number | undefined;
  nodes: number;
  /** Nodes with nothing on them, on which a job may start now. */
  idleNodes: number;
  cpus: { idle: number; total: number };
  gpus: PartitionGpus[];
  /** GPUs that each of its nodes has at least; 0 where one has none. */
  gpusPerNode: number;
  /** In MiB, what each of its nodes has at least. */
  memoryPerNode: number;
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
const countIn = (gpus: readonly GpuCount[], type: string): number =>
  gpus.find((each) => each.type === type)?.count ?? 0;

/** GPUs of a type that nobody has on nodes where a job may start. */
function freeGpus(groups: readonly NodeGroup[], type: string): number | undefined {
  const free = groups.map(({ isOpen, state, nodes, gres, gresUsed }) => {
    if (!isOpen) return 0;
    if (gresUsed === undefined && state !== 'idle') return undefined;
    const used = countIn(gpusOf(gresUsed ?? ''), type);
    return nodes * Math.max(0, countIn(gpusOf(gres), type) - used);
  });
  return free.every((value) => value !== undefined) ? sum(free) : undefined;
}

function gpusOfGroups(groups: readonly NodeGroup[]): PartitionGpus[] {
  const types = new Set(groups.flatMap(({ gres }) => gpusOf(gres).map(({ type }) => type)));
  return [...types].map((type) => ({
    type,
    total: sum(groups.map(({ nodes, gres }) => nodes * countIn(gpusOf(gres), type))),
    free: freeGpus(groups, type),
  }));
}

/**
 * From what sinfo printed: `text` in one of the two formats, and `json` of versions that have it
 * (null elsewhere). The default partition is the first, the others in sinfo's order.
 */
export function partitionsOf(text: string, json: unknown): Partition[] {
  const lines = parseSinfo(text);
  const detailed = parseSinfoJson(json);
  const heads = new Map(lines.map((line) => [line.partition, line]));
  const partitions = [...heads.values()].map(({ partition: name, isDefault, isUp, timeLimit }) => {
    const groups: readonly NodeGroup[] =
      detailed?.get(name) ?? lines.filter(({ partition }) => partition === name);
    const least = (values: readonly number[]): number => (values.length === 0 ? 0 : Math.min(...values));
    return {
      ...{ name, isDefault, isUp, timeLimit },
      nodes: sum(groups.map(({ nodes }) => nodes)),
      idleNodes: sum(groups.map(({ state, isOpen, nodes }) => (state === 'idle' && isOpen ? nodes : 0))),
      cpus: {
        idle: sum(groups.map(({ isOpen, cpus }) => (isOpen ? cpus.idle : 0))),
        total: sum(groups.map(({ cpus }) => cpus.total)),
      },
      gpus: gpusOfGroups(groups),
      gpusPerNode: least(groups.map(({ gres }) => sum(gpusOf(gres).map(({ count }) => count)))),
      memoryPerNode: least(groups.map(({ memoryPerNode }) => memoryPerNode)),
    };
  });
  return [...partitions.filter(({ isDefault }) => isDefault), ...partitions.filter((one) => !one.isDefault)];
}

/** `3 of 8 nodes idle; 12 of 32 GPUs (a100) free; at most 8.0 h`. */
export function partitionWords({ isUp, nodes, idleNodes, cpus, gpus, timeLimit }: Partition): string {
  const parts = [
    ...(isUp ? [] : ['takes no jobs now']),
    `${idleNodes} of ${nodes} nodes idle`,
    ...(gpus.length === 0 ? [`${cpus.idle} of ${cpus.total} CPUs free`] : []),
    ...gpus.map(({ type, total, free }) => {
      const kind = type === '' ? '' : ` (${type})`;
      return free === undefined ? `${total} GPUs${kind}` : `${free} of ${total} GPUs${kind} free`;
    }),
    ...(timeLimit === undefined ? [] : [`at most ${lengthText(timeLimit)}`]),
  ];
  return parts.join('; ');
}

/**
 * A profile whose runs go to one partition. `base` says how its login node is reached, and whatever
 * else shall hold. Where each node of the partition has GPUs, a run asks for all of them of each of
 * its nodes.
 */
export function profileOfPartition(base: Profile, name: string, partition: Partition): Profile {
  const login = base.hosts?.find(({ host }) => host === base.head) ?? base.hosts?.[0];
  const others = { ...base.slurm };
  delete others.gres;
  delete others.gpusPerNode;
  const gpus = partition.gpusPerNode > 0 ? { gpusPerNode: partition.gpusPerNode } : {};
  return {
    ...base,
    ...{ name, kind: 'slurm' },
    hosts: login ? [login] : [],
    slurm: { ...others, partition: partition.name, ...gpus },
  };
}

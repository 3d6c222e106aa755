// What sinfo says of a cluster's nodes, as text and as JSON. The text has names of partitions,
// their limits and which is the default; the JSON has the nodes, one by one, with nothing cut off.
import * as z from 'zod/mini';
import { durationOf, linesOf, wordOf } from './queue.js';

/** For `sinfo -h -O`, with the GPUs in use. Each field is cut at its width. */
export const sinfoFields =
  'Partition:80|,Available:20|,Time:40|,Nodes:20|,StateLong:40|,CPUs:20|,Memory:20|,Gres:400|,CPUsState:60|,GresUsed:400|';
/** For `sinfo -h -o`, where the fields above are not known. */
export const sinfoFormat = '%P|%a|%l|%D|%T|%c|%m|%G|%C|';

/** Nodes of one partition that are alike. */
export interface NodeGroup {
  nodes: number;
  /** Slurm's word, for example idle. */
  state: string;
  /** Whether Slurm may start a job there now, where something is free. */
  isOpen: boolean;
  cpusPerNode: number;
  /** In MiB. */
  memoryPerNode: number;
  gres: string;
  /** Of each node; undefined where it is not known. */
  gresUsed: string | undefined;
  cpus: { idle: number; total: number };
}

/** A line of sinfo's text. */
export interface PartitionLine extends NodeGroup {
  partition: string;
  isDefault: boolean;
  isUp: boolean;
  /** Seconds; undefined without a limit. */
  timeLimit: number | undefined;
}

const openStates = new Set(['idle', 'mixed', 'allocated', 'completing']);
/** Signs behind a state with which nothing starts there: no answer, reserved, about to boot again. */
const closedSigns = /[*$@^!%]/;

/** What sinfo prints in either format. A line that is none of its lines is left out. */
export function parseSinfo(text: string): PartitionLine[] {
  return linesOf(text).flatMap((line) => {
    const parts = line.split('|').map((part) => part.trim());
    const [name = '', up = '', limit = '', count = '', state = '', cpus = '', memory = '', gres = ''] = parts;
    const used = /^\d+\/(\d+)\/\d+\/(\d+)$/.exec(parts[8] ?? '');
    if (!used) return [];
    // What stands behind a state is a sign: `idle*` does not answer, `idle~` sleeps.
    const word = /^[a-z_]+/i.exec(state)?.[0] ?? state;
    return [
      {
        partition: name.replace(/\*$/, ''),
        isDefault: name.endsWith('*'),
        isUp: up === 'up',
        timeLimit: durationOf(limit),
        nodes: Number.parseInt(count, 10) || 0,
        state: word,
        isOpen: openStates.has(word) && !closedSigns.test(state),
        cpusPerNode: Number.parseInt(cpus, 10) || 0, // 64+ where they differ
        memoryPerNode: Number.parseInt(memory, 10) || 0,
        gres: wordOf(gres),
        gresUsed: parts[9] === undefined || parts[9] === '' ? undefined : wordOf(parts[9]),
        cpus: { idle: Number(used[1]), total: Number(used[2]) },
      },
    ];
  });
}

const words = z.union([z.string(), z.array(z.string())]);
const count = z.int();

/** 21.08 and 22.05: the nodes of the cluster. */
const nodesSchema = z.object({
  nodes: z.array(
    z.object({
      partitions: z.array(z.string()),
      state: words,
      state_flags: z.optional(z.array(z.string())),
      cpus: count,
      idle_cpus: count,
      real_memory: count,
      gres: z.string(),
      gres_used: z.string(),
    }),
  ),
});

/** From 23.02 on: groups of nodes of a partition; with `-N`, each node. */
const groupsSchema = z.object({
  sinfo: z.array(
    z.object({
      node: z.object({ state: words }),
      nodes: z.object({ total: count }),
      cpus: z.object({ idle: count, total: count, minimum: count }),
      memory: z.object({ minimum: count }),
      gres: z.object({ total: z.string(), used: z.string() }),
      partition: z.object({ name: z.string() }),
    }),
  ),
});

const listOf = (value: z.infer<typeof words>): string[] => (typeof value === 'string' ? [value] : value);
/** Flags beside a state with which nothing starts there. */
const closedFlags =
  /^(DRAIN|NOT_RESPONDING|MAINTENANCE|RESERVED|REBOOT|FAIL|INVALID|POWERING_DOWN|POWER_DOWN|UNDRAIN)/;

/** The first of the words is the state, and the others are flags beside it. */
function stateOf(given: readonly string[]): Pick<NodeGroup, 'state' | 'isOpen'> {
  const [first = 'unknown', ...flags] = given;
  const state = flags.includes('DRAIN') ? 'drained' : first.toLowerCase();
  return { state, isOpen: openStates.has(state) && !flags.some((flag) => closedFlags.test(flag)) };
}

/**
 * What `sinfo -N --json` prints, by the names of partitions: of 21.08 and 22.05, and of the later
 * versions. Undefined where it has neither form.
 */
export function parseSinfoJson(value: unknown): Map<string, NodeGroup[]> | undefined {
  const found = new Map<string, NodeGroup[]>();
  const add = (partition: string, group: NodeGroup): void => {
    found.set(partition, [...(found.get(partition) ?? []), group]);
  };
  const old = z.safeParse(nodesSchema, value);
  if (old.success) {
    for (const { partitions, state, state_flags = [], ...node } of old.data.nodes) {
      const group = {
        ...stateOf([...listOf(state), ...state_flags]),
        nodes: 1,
        cpusPerNode: node.cpus,
        memoryPerNode: node.real_memory,
        gres: wordOf(node.gres),
        gresUsed: wordOf(node.gres_used),
        cpus: { idle: node.idle_cpus, total: node.cpus },
      };
      for (const partition of partitions) add(partition, group);
    }
    return found;
  }
  const read = z.safeParse(groupsSchema, value);
  if (!read.success) return undefined;
  for (const { node, nodes, cpus, memory, gres, partition } of read.data.sinfo) {
    add(partition.name, {
      ...stateOf(listOf(node.state)),
      nodes: nodes.total,
      cpusPerNode: cpus.minimum,
      memoryPerNode: memory.minimum,
      gres: wordOf(gres.total),
      gresUsed: wordOf(gres.used),
      cpus: { idle: cpus.idle, total: cpus.total },
    });
  }
  return found;
}

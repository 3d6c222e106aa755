// What each node is made of, and what of it a run would suffer from.
import { sizeText } from '../base/sizeText.js';
import * as z from 'zod/mini';
import { bad, good, warned, type CheckResult } from '../base/checks.js';
import { growShm, raiseLimit, setMtu } from '../base/nodeCommands.js';

const count = z.int().check(z.gte(0));
/** What a process may have, now and at most. Null: no limit. */
const limitSchema = z.tuple([z.nullable(count), z.nullable(count)]);
/** In bytes. `inodes` is null where a file system has no number of them. */
const roomSchema = z.object({
  total: count,
  free: count,
  inodes: z.nullable(z.object({ total: count, free: count })),
});

/**
 * What the set-up program answers to `facts`. Memory is in bytes; null is what could not be told.
 * `room` and `mount` are those of the disk of `workdir`.
 */
export const factsSchema = z.object({
  os: z.nullable(z.string()),
  kernel: z.string(),
  memory: z.nullable(count),
  limits: z.object({ nofile: limitSchema, memlock: limitSchema, nproc: limitSchema, fsize: limitSchema }),
  room: z.nullable(roomSchema),
  shm: z.nullable(roomSchema),
  mount: z.nullable(z.object({ type: z.string(), source: z.string(), point: z.string() })),
  network: z.nullable(
    z.object({ name: z.string(), address: z.nullable(z.string()), mtu: z.nullable(count) }),
  ),
  rdma: z.boolean(),
});
/** What a node is made of. */
export type Facts = z.infer<typeof factsSchema>;

/** Below this a run would not get far. */
const fewestInodes = 10_000;
/** Part of all inodes. */
const lowInodes = 0.03;
/** Open files that a process needs at once, and those that many ranks and loaders come to. */
const fewestFiles = 1024;
const usualFiles = 4096;
/** Processes and threads of one user: ranks, their threads, and what the user has besides. */
const usualProcesses = 4096;
/** Bytes. */
const usualShm = 512e6;

/** The rows of one node. `named`: the profile's interface, where it names one. */
export function judgeFacts(facts: Facts, named: string | undefined): CheckResult[] {
  const { os, kernel, memory, limits, mount, room } = facts;
  return [
    good('OS', os ?? 'not told'),
    good('kernel', kernel),
    ...(memory === null ? [] : [good('memory', sizeText(memory))]),
    ...(mount ? [good('file system', `${mount.type} of ${mount.source}`)] : []),
    ...judgeInodes(room?.inodes ?? null),
    judgeShm(facts.shm),
    judgeFiles(limits.nofile),
    judgeProcesses(limits.nproc),
    judgeLockedMemory(limits.memlock, facts.rdma),
    judgeFileSize(limits.fsize),
    ...judgeNetwork(facts.network, named),
  ];
}

/** Inodes of a disk; nothing where it has no number of them. */
function judgeInodes(inodes: { total: number; free: number } | null): CheckResult[] {
  if (inodes === null) return [];
  const { free, total } = inodes;
  const amount = free;
  const left = `${whole(free)} inodes free`;
  if (free < fewestInodes) {
    return [{ ...bad('inodes', `${left}, ${whole(fewestInodes)} are needed`, emptyDisk), amount }];
  }
  if (free < total * lowInodes) {
    return [{ ...warned('inodes', `${left} of ${whole(total)}`, emptyDisk), amount }];
  }
  return [{ ...good('inodes', left), amount }];
}

const emptyDisk = 'Remove files of this disk: many small ones take inodes, whatever their size is';

function judgeShm(shm: Facts['shm']): CheckResult {
  const name = 'shared memory';
  if (shm === null) return warned(name, '/dev/shm is not there', growShm(false));
  const told = `${sizeText(shm.total)} in /dev/shm`;
  if (shm.total < usualShm) return warned(name, told, growShm(true));
  if (shm.free < usualShm) {
    const used = `${sizeText(shm.free)} free of ${told}`;
    return warned(name, used, 'Remove what ended programs left in /dev/shm');
  }
  return good(name, told);
}

function judgeFiles([soft, hard]: [number | null, number | null]): CheckResult {
  const told = limitText([soft, hard]);
  const few = (soft ?? Infinity) < fewestFiles || (hard ?? Infinity) < usualFiles;
  return few ? warned('open files', told, raiseLimit('nofile', '1048576')) : good('open files', told);
}

function judgeProcesses(limit: [number | null, number | null]): CheckResult {
  const told = limitText(limit);
  return (limit[0] ?? Infinity) < usualProcesses
    ? warned('processes', told, raiseLimit('nproc', 'unlimited'))
    : good('processes', told);
}

/** RDMA pins what it sends. Elsewhere the limit matters to nobody. */
function judgeLockedMemory([soft, hard]: [number | null, number | null], rdma: boolean): CheckResult {
  const name = 'locked memory';
  const told = soft === null ? 'no limit' : sizeText(soft);
  return rdma && soft !== null && hard !== null
    ? warned(name, `${told}, and the node has RDMA`, raiseLimit('memlock', 'unlimited'))
    : good(name, told);
}

/** A write beyond it fails or ends the process, as that of a large checkpoint. */
function judgeFileSize([soft]: [number | null, number | null]): CheckResult {
  const name = 'file size';
  return soft === null
    ? good(name, 'no limit')
    : warned(
        name,
        `at most ${sizeText(soft)}, and no checkpoint is larger`,
        raiseLimit('fsize', 'unlimited'),
      );
}

function judgeNetwork(network: Facts['network'], named: string | undefined): CheckResult[] {
  if (network === null) {
    return named === undefined
      ? []
      : [bad('interface', `there is no ${named}`, 'Name an interface that all nodes have, or "auto"')];
  }
  const { name, mtu } = network;
  return [good('interface', name), ...(mtu === null ? [] : [good(mtuRow, String(mtu))])];
}

/** The row of MTUs. */
const mtuRow = 'MTU';

const limitText = ([soft, hard]: [number | null, number | null]): string =>
  soft === hard
    ? numberText(soft)
    : `${numberText(soft)}, ${hard === null ? 'no limit' : `at most ${whole(hard)}`} where raised`;
const numberText = (value: number | null): string => (value === null ? 'no limit' : whole(value));

/** `16,043,761`. */
const whole = (value: number): string => value.toLocaleString('en-US');

/**
 * MTUs that are not that of most nodes, as warnings; where no MTU is usual, all of them. `results`:
 * of all nodes.
 */
export function compareMtus(
  results: readonly CheckResult[],
  facts: ReadonlyMap<string, Facts>,
): CheckResult[] {
  const mtus = results.filter(({ name }) => name === mtuRow);
  const usual = usualOf(mtus.map(({ detail }) => detail));
  const all = [...new Set(mtus.map(({ detail }) => detail))];
  if (all.length < 2) return [...results];
  return results.map((result) => {
    if (result.name !== mtuRow || result.detail === usual) return result;
    const device = facts.get(result.host ?? '')?.network?.name;
    const wanted = usual ?? all.find((mtu) => mtu !== result.detail) ?? '';
    const others = usual === undefined ? `others have ${wanted}` : `most have ${usual}`;
    const hint = device === undefined ? 'Give all nodes one MTU' : setMtu(device, wanted);
    return { ...result, ...warned(mtuRow, `${result.detail}, ${others}`, hint) };
  });
}

/** What more than half say. */
function usualOf(values: readonly string[]): string | undefined {
  return values.find((value) => values.filter((other) => other === value).length * 2 > values.length);
}

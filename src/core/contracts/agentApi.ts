// The agent's methods: parameters as types, results as schemas, so that nothing unchecked comes in.
import * as z from 'zod/mini';
import { checkpointSchema } from './checkpointSchema.js';
import { hostSampleSchema } from './metricsSchema.js';
import type { NodePath } from '../base/nodePath.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import {
  aboutSchema,
  runFileSchema,
  stateSchema,
  type RunAbout,
  type StartSpec,
  type StopMode,
} from './runSchema.js';

const count = z.int().check(z.gte(0));
const nothing = z.object({});
const base64 = z.string();

/** `memoryTotal` is in bytes. */
const helloSchema = z.object({
  version: z.string(),
  host: z.string(),
  user: z.string(),
  home: nodePathSchema,
  pid: z.int(),
  bootId: z.string(),
  cores: z.int().check(z.gte(1)),
  memoryTotal: count,
  glibc: z.string(),
  kernel: z.string(),
});
/** What an agent says of itself and its host, as the answer to `hello`. */
export type Hello = z.infer<typeof helloSchema>;

/** How a run's job stands in the queue of Slurm. The agent does not say it: the client adds it. */
export const queueStandSchema = z.object({
  job: z.string(),
  kind: z.enum(['waiting', 'running', 'ended']),
  /** Slurm's words for the job's state, and for why it waits. */
  state: z.string(),
  reason: z.nullable(z.string()),
  /** Among the jobs of its partition that wait; 1 is the next. */
  place: z.nullable(z.int()),
  /** Seconds since the epoch: when it began, or when Slurm expects it to. */
  start: z.nullable(z.number()),
  secondsLeft: z.nullable(z.number()),
  /** All of it, for people. */
  text: z.string(),
});
/** How a run's job stands in the queue of Slurm. */
export type QueueStand = z.infer<typeof queueStandSchema>;

/**
 * A run as the agent lists it. A half-written or foreign folder has null where its file could not
 * be understood.
 */
const runEntrySchema = z.object({
  id: z.string(),
  dir: nodePathSchema,
  run: z.catch(z.nullable(runFileSchema), null),
  state: z.catch(z.nullable(stateSchema), null),
  interrupted: z.boolean(),
  /** Null or left out where nobody named the run. */
  about: z.optional(z.catch(z.nullable(aboutSchema), null)),
  /**
   * The host that supervises it, where that is not the one that was asked: they share the folder's
   * disk.
   */
  elsewhere: z.optional(z.nullable(z.string())),
  queue: z.optional(queueStandSchema),
});
/** A run as the agent lists it. */
export type RunEntry = z.infer<typeof runEntrySchema>;

/**
 * A run of which a node keeps a copy. Its files are those of the copy; `dir` is where they will be.
 * `time`: when the copy was whole last, seconds since the epoch.
 */
const mirroredRunSchema = z.extend(runEntrySchema, { time: z.number() });
/** A run of which a node keeps a copy. */
export type MirroredRun = z.infer<typeof mirroredRunSchema>;

/**
 * `files`: bytes of the run's files, by their names below its folder. `stamps`: of the files that
 * are in the folder itself, a text that is another one after every change.
 */
const runDetailsSchema = z.extend(runEntrySchema, {
  files: z.record(z.string(), count),
  stamps: z.record(z.string(), z.string()),
});
/** A run with the sizes of its files, as the answer to `run.get`. */
export type RunDetails = z.infer<typeof runDetailsSchema>;

const processSchema = z.object({ pid: z.int(), what: z.string() });
/** What was not the run's: names below its folder, the first of `stayCount`. */
const remainsSchema = z.object({ stays: z.array(z.string()), stayCount: count, folderStays: z.boolean() });

/**
 * The schema of each method's result. Sizes, offsets and free space are in bytes; `key` is 64 hex
 * digits; `data` is base64.
 */
export const agentResults = {
  hello: helloSchema,
  'host.sample': hostSampleSchema,
  'gpus.take': z.object({ locks: z.string() }),
  'gpus.give_back': nothing,
  'gpus.queue': z.object({ number: z.int() }),
  'gpus.leave': nothing,
  'run.start': z.object({ id: z.string(), dir: nodePathSchema }),
  'run.joining': z.object({
    port: z.int(),
    key: z.string(),
    nodes: z.array(z.object({ host: z.string(), state: z.string() })),
  }),
  'run.join': z.object({ dir: nodePathSchema }),
  'run.not_joined': nothing,
  'mirror.list': z.object({ runs: z.array(mirroredRunSchema) }),
  'mirror.adopt': z.object({ dir: nodePathSchema, adopted: z.boolean(), shared: z.boolean() }),
  'leftovers.list': z.object({
    runs: z.array(
      z.object({ dir: nodePathSchema, supervised: z.boolean(), processes: z.array(processSchema) }),
    ),
  }),
  'leftovers.kill': z.object({ killed: z.array(processSchema), left: z.array(processSchema) }),
  'run.list': z.object({ runs: z.array(runEntrySchema) }),
  'run.get': runDetailsSchema,
  'run.describe': nothing,
  'run.stop': nothing,
  'run.kill': z.object({ killed: z.array(processSchema), left: z.array(processSchema) }),
  'run.delete': remainsSchema,
  'run.forget': remainsSchema,
  'checkpoint.list': z.object({ checkpoints: z.array(checkpointSchema) }),
  'metrics.read': z.object({ size: count, lines: z.array(z.unknown()) }),
  'file.read': z.object({ data: base64, offset: count, size: count, inode: count }),
  'file.follow': nothing,
  'file.unfollow': nothing,
  'disk.free': z.object({ free: count, total: count, inodesFree: count }),
  'tensorboard.start': z.object({ pid: z.int(), socket: nodePathSchema }),
  'tensorboard.status': z.object({
    running: z.boolean(),
    pid: z.nullish(z.int()),
    socket: z.nullish(nodePathSchema),
    lastLines: z.nullish(z.array(z.string())),
  }),
  'tensorboard.stop': nothing,
} as const;

/**
 * The parameters of each method. `offset` and `length` are in bytes. `idle` is in seconds:
 * TensorBoard ends after that time without a request. An `id` of `file.follow` is chosen by the
 * client. `gpuLocks` is the `locks` of `gpus.take`.
 */
export interface AgentParams {
  hello: undefined;
  'host.sample': undefined;
  'gpus.take': { gpus: { index: number; uuid: string }[]; dir?: NodePath };
  'gpus.give_back': { locks: string };
  'gpus.queue': { ticket: string; gpus: number[]; count: number; by: string; number?: number };
  'gpus.leave': { ticket: string };
  'run.start': { workdir: NodePath; spec: StartSpec; gpuLocks?: string };
  'run.joining': { dir: NodePath };
  'run.join': {
    workdir: NodePath;
    id: string;
    host: string;
    head: { address: string; port: number };
    key: string;
    paths: { agent: NodePath; trainer: NodePath; proxy: NodePath };
    gpuLocks?: string;
    again?: true;
  };
  'run.not_joined': { dir: NodePath; host: string; why: string };
  'mirror.list': { workdir: NodePath };
  'mirror.adopt': { workdir: NodePath; id: string; host: string };
  'leftovers.list': { workdir: NodePath };
  'leftovers.kill': { workdir: NodePath; all: boolean };
  'run.list': { workdir: NodePath };
  'run.get': { dir: NodePath };
  'run.describe': { dir: NodePath; about: RunAbout };
  'run.stop': { dir: NodePath; mode: StopMode; by: string };
  'run.kill': { dir: NodePath };
  'run.delete': { dir: NodePath; everything?: boolean; look?: boolean };
  'run.forget': { workdir: NodePath; id: string; host: string; former?: true; everything?: boolean };
  'checkpoint.list': { dir: NodePath; verify?: boolean };
  'metrics.read': { dir: NodePath; rows: number; onlyCurves?: boolean; end?: number };
  'file.read': { path: NodePath; offset: number; length: number };
  'file.follow': { path: NodePath; offset: number; id: number };
  'file.unfollow': { id: number };
  'disk.free': { path: NodePath };
  'tensorboard.start': { dir: NodePath; python: NodePath; server: NodePath; idle: number };
  'tensorboard.status': { dir: NodePath };
  'tensorboard.stop': { dir: NodePath };
}

/** The name of a method that the agent has. */
export type AgentMethod = keyof AgentParams;
/** The checked result of a method. */
export type AgentResult<M extends AgentMethod> = z.infer<(typeof agentResults)[M]>;

/**
 * What the agent sends without being asked: bytes of a followed file at `offset`, and that the file
 * shrank or was replaced. `offset` and `size` are in bytes.
 */
export const notificationSchema = z.discriminatedUnion('method', [
  z.object({
    method: z.literal('file.data'),
    params: z.object({ id: z.int(), offset: count, data: base64 }),
  }),
  z.object({ method: z.literal('file.reset'), params: z.object({ id: z.int(), size: count }) }),
]);
/** A checked notification of the agent. */
export type AgentNotification = z.infer<typeof notificationSchema>;

/** The agent's own error codes; JSON-RPC's are negative. */
export const agentErrors = { notFound: 1, badState: 2, io: 3, refused: 4, taken: 5 } as const;

// run.json, state.json and stop.json as docs/contracts/files.md fixes them; events.jsonl,
// heartbeats and exit records as docs/contracts/events.md does.
import * as z from 'zod/mini';
import { demand } from '../base/validation.js';
import type { NodePath } from '../base/nodePath.js';
import { debugSchema, waitingFields } from './debugSchema.js';
import { limitsSchema } from './limitsSchema.js';
import { notifyRecordSchema } from './notifySchema.js';
import { runQueueSchema } from './runQueueSchema.js';
import { slurmRecordSchema } from './slurmSchema.js';

const argv = z.array(z.string());
const count = z.int().check(z.gte(0));

const deviceChoiceSchema = z.object({
  asked: z.enum(['auto', 'cpu', 'cuda']),
  used: z.enum(['cpu', 'cuda']),
  /** One line, for people. */
  why: z.string(),
});
/** What a run of our trainer computes on. */
export type DeviceChoice = z.infer<typeof deviceChoiceSchema>;

/** The user's code that went along with a run. */
const codeRecordSchema = z.object({
  /** SHA-256 of the manifest. */
  snapshot: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** Of the machine that the run was started from. */
  folder: z.string(),
  files: count,
  bytes: count,
  /** Null outside of a git repository. */
  commit: z.nullable(z.string()),
  /** Whether the folder differed from the commit. */
  changed: z.nullable(z.boolean()),
});
/** The record of a run's code. */
export type CodeRecord = z.infer<typeof codeRecordSchema>;

/** The Python packages that a run's nodes got for an own program. */
const environmentRecordSchema = z.object({
  /** The environment's folder, the same on each node; `~` is the home folder there. */
  path: z.string(),
  /** The file that names the packages, on the machine that the run was started from. */
  requirements: z.string(),
  /** The version of the program's Python. */
  python: z.string(),
  /** The lines of the requirements file that say where pip looks. */
  options: z.array(z.string()),
  /** `NAME==VERSION`, as `pip freeze` has them. */
  packages: z.array(z.string()),
  /** Whether the requirements had hashes, which the file alone knows. */
  hashed: z.optional(z.boolean()),
});
/** The record of a run's Python packages. */
export type EnvironmentRecord = z.infer<typeof environmentRecordSchema>;

const priceSchema = z.object({
  per: z.enum(['node', 'gpu']),
  amount: z.number().check(z.gte(0)),
  currency: z.string(),
});
/** What one node or one GPU costs for one hour, in units of `currency`. */
export type Price = z.infer<typeof priceSchema>;

const budgetSchema = z.object({
  /** In units of the price's currency. */
  amount: z.number().check(z.gt(0)),
  /** The share of it at which the run warns. */
  warnAt: z.number().check(z.gte(0), z.lte(1)),
  /** Whether the run stops after a checkpoint once it is spent. */
  stop: z.boolean(),
});
/** What a run may cost, in all its starts. */
export type RunBudget = z.infer<typeof budgetSchema>;

const heldSpanSchema = z.object({
  from: z.number(),
  to: z.number(),
  perHour: z.optional(z.number().check(z.gte(0))),
  currency: z.optional(z.string()),
  gpus: z.optional(count),
  generation: z.optional(count),
});
/**
 * When one start of a run held its nodes, in seconds since the epoch, the price of an hour of all
 * that it held, and how many GPUs its ranks had; without a price where it had none. `generation`:
 * its last one, where somebody resumed the run after it.
 */
export type HeldSpan = z.infer<typeof heldSpanSchema>;

/** `begun`: seconds since the epoch, the same for all its runs. `trial`: of a sweep, from 1. */
const reportSchema = z.object({
  kind: z.enum(['scaling', 'bakeoff', 'sweep']),
  begun: z.number(),
  trial: z.optional(count),
});
/** The report that a run was started for. */
export type ReportRecord = z.infer<typeof reportSchema>;

/** What a run is to do. `limits` are in seconds, but `maxRestarts`, which is a count. */
export const runSpecSchema = z.object({
  version: z.literal(1),
  id: z.optional(z.string()),
  profile: z.object({ name: z.string(), kind: z.enum(['local', 'ssh', 'slurm']) }),
  program: z.enum(['trainer', 'command']),
  argv: argv.check(z.minLength(1)),
  /** Where a command starts; a trainer is given absolute paths. */
  cwd: z.optional(z.string()),
  /** A further folder with event files of a command; relative to where it starts. */
  logdir: z.optional(z.string()),
  /** A folder below the run's one, which other nodes than the head get before each start. */
  share: z.optional(z.string()),
  /** The code lies in the run folder's `code`, where the command starts. */
  code: z.optional(codeRecordSchema),
  /** Of an own program whose packages the nodes got. */
  environment: z.optional(environmentRecordSchema),
  device: z.optional(deviceChoiceSchema),
  ranks: z.int().check(z.gte(1)),
  /** One process on each node, which may start `workers` (here or of its node) itself. */
  perNode: z.optional(z.boolean()),
  workers: z.optional(z.int().check(z.gte(1))),
  /** Shell text that runs before each process. */
  prologue: z.optional(z.string()),
  /** The hosts to which the run was bound, by their names in the profile. */
  hostsAsked: z.optional(z.array(z.string())),
  /** The GPUs of each node as they were asked for: `2`, or `0,2`. */
  gpusAsked: z.optional(z.string()),
  /** Of a run on one machine: the GPUs of its ranks, in their order. */
  gpus: z.optional(z.nullable(z.array(count))),
  /** The GPUs that it names are then those that it took, once it has begun. */
  queue: z.optional(runQueueSchema),
  threadsPerRank: z.int().check(z.gte(1)),
  env: z.record(z.string(), z.string()),
  /** Of an own program in Python. */
  debug: z.optional(debugSchema),
  evaluator: z.nullable(z.object({ argv, threads: z.int().check(z.gte(1)), nice: z.int() })),
  tensorboard: z.boolean(),
  paths: z.object({
    trainer: z.string(),
    mpiexec: z.string(),
    agent: z.string(),
    python: z.string(),
    tensorboardServer: z.string(),
  }),
  hashes: z.object({ trainer: z.string(), agent: z.string(), requirements: z.string() }),
  limits: limitsSchema,
  notify: z.optional(notifyRecordSchema),
  launcher: z.string(),
  /** Of a run that Slurm starts. */
  slurm: z.optional(slurmRecordSchema),
  /** Of a run that spans hosts, the head first. */
  nodes: z.optional(
    z.array(
      z.object({
        host: z.string(),
        address: z.string(),
        /** 0: no rank runs there, which only the head may have. */
        slots: count,
        workers: z.optional(z.int().check(z.gte(1))),
        /** TensorFlow's tasks of its processes. */
        tasks: z.optional(z.array(z.string())),
        gpus: z.nullable(z.array(count)),
        /** Folders of NVIDIA's libraries there. */
        nvidia: z.optional(z.array(z.string())),
        /** It waits, to take the place of a lost one. These stand last. */
        spare: z.optional(z.literal(true)),
      }),
    ),
  ),
  interface: z.optional(z.string()),
  portRange: z.optional(z.string()),
  minNodes: z.optional(count),
  /** The host that keeps a copy of the run folder. */
  mirror: z.optional(z.string()),
  /** The checkpoint whose weights the run began with: the folder of its run, and its step. */
  from: z.optional(z.object({ dir: z.string(), step: count })),
  /** As the profile had it at the start. */
  price: z.optional(priceSchema),
  /** Only with a price. */
  budget: z.optional(budgetSchema),
  /** Of a run that was resumed: its starts before this one, the oldest first. */
  earlier: z.optional(z.array(heldSpanSchema)),
  /** Of a run that a report started. */
  report: z.optional(reportSchema),
  totalSteps: z.nullable(count),
});

/** run.json as the client makes it. */
type RunSpec = z.infer<typeof runSpecSchema>;
/** about.json: what people call a run. An empty text or list where nobody wrote anything. */
export const aboutSchema = z.object({ name: z.string(), tags: z.array(z.string()), notes: z.string() });
/** Name, tags and notes of a run. */
export type RunAbout = z.infer<typeof aboutSchema>;

/**
 * What `run.start` takes: `label` names a run whose id is left out, `dir` its folder, and `about`
 * is for about.json.
 */
export type StartSpec = RunSpec & { label: string; dir?: NodePath; about?: RunAbout };

/** run.json as it lies in the run folder. `created` is in seconds since the epoch. */
export const runFileSchema = z.extend(runSpecSchema, { id: z.string(), created: z.number() });
/** A checked run.json. */
export type RunFile = z.infer<typeof runFileSchema>;

/** `startTime`: clock ticks since the boot, from field 22 of /proc/PID/stat. */
const processSchema = z.object({ pid: z.int(), startTime: z.number() });
const phaseSchema = z.enum([
  'queued',
  'starting',
  'running',
  'stopping',
  'evaluating',
  'finished',
  'stopped',
  'failed',
]);
/** How far a run is, as its supervisor says. */
export type Phase = z.infer<typeof phaseSchema>;

/**
 * The copy of the run folder on another node: the newest checkpoint that is whole there, when the
 * node had everything last (seconds since the epoch), and why it cannot be written now. `shared`:
 * the node sees the head's folder, and there is nothing to copy.
 */
const mirrorSchema = z.object({
  host: z.string(),
  shared: z.optional(z.literal(true)),
  checkpoint: z.optional(z.nullable(z.string())),
  time: z.optional(z.nullable(z.number())),
  why: z.optional(z.nullable(z.string())),
});

/**
 * state.json. `started`, `ended`, `updated` and `since` are in seconds since the epoch; `world`
 * counts the ranks of the generation.
 */
export const stateSchema = z.object({
  version: z.literal(1),
  phase: phaseSchema,
  generation: count,
  world: count,
  supervisor: z.extend(processSchema, { bootId: z.string(), host: z.string() }),
  ranks: z.array(z.extend(processSchema, { rank: count, host: z.string() })),
  mpiexec: z.nullable(processSchema),
  evaluator: z.nullable(processSchema),
  nodes: z.optional(
    z.array(
      z.object({
        host: z.string(),
        address: z.string(),
        state: z.enum(['waiting', 'joined', 'lost']),
        since: z.number(),
        /** It has joined, and no rank of this generation is there. */
        spare: z.optional(z.literal(true)),
      }),
    ),
  ),
  mirror: z.optional(mirrorSchema),
  started: z.number(),
  ended: z.nullable(z.number()),
  exitCode: z.nullable(z.int()),
  reason: z.nullable(z.string()),
  /** What it waits for while it is queued, for people. */
  waiting: z.optional(z.string()),
  updated: z.number(),
});
/** A checked state.json. */
export type RunState = z.infer<typeof stateSchema>;

/** stop.json: who asked for the run's end, and when (seconds since the epoch). */
export const stopSchema = z.object({ mode: z.enum(['checkpoint', 'now']), time: z.number(), by: z.string() });
/** How a run is asked to end: after one more checkpoint, or at once. */
export type StopMode = z.infer<typeof stopSchema>['mode'];

const exitFields = { exit_code: z.nullable(z.int()), signal: z.nullable(z.int()) };
/** What a rank's program said of its own work: it counts more than how the process ended. */
const outcomeFields = {
  outcome: z.optional(z.nullable(z.int())),
  retryable: z.optional(z.nullable(z.boolean())),
};
/** "ValueError: a bad batch": the exception that a Python program of the user's printed. */
const exceptionField = { exception: z.optional(z.nullable(z.string())) };
const moneyFields = { cost: z.number(), amount: z.number(), currency: z.string(), stops: z.boolean() };
const event = <K extends string, S extends z.core.$ZodShape>(
  kind: K,
  fields: S,
): z.ZodMiniObject<{ time: z.ZodMiniNumber; kind: z.ZodMiniLiteral<K>; generation: typeof count } & S> =>
  z.object({ time: z.number(), kind: z.literal(kind), generation: count, ...fields });

/** Of an own program whose output is watched. */
const silent = z.optional(z.boolean());
/** What ranks do that stand still: a phrase whose subject is the rank. */
const doing = z.optional(z.array(z.object({ rank: count, host: z.string(), what: z.string() })));

/**
 * One line of events.jsonl, of any kind. Times are in seconds since the epoch; `seconds` and
 * `fewer_after` are durations.
 */
export const eventSchema = z.discriminatedUnion('kind', [
  event('created', { id: z.string() }),
  event('started', { world: count, argv }),
  event('rank_started', { rank: count, host: z.string(), pid: z.int() }),
  event('debugger_waiting', waitingFields),
  event('rank_exited', {
    rank: count,
    host: z.string(),
    pid: z.int(),
    ...exitFields,
    ...outcomeFields,
    ...exceptionField,
    last_step: z.nullable(z.int()),
  }),
  event('stalled', {
    silent,
    seconds: z.number(),
    waiting_for: z.array(z.object({ rank: count, host: z.string() })),
    doing,
    last_step: z.nullable(z.int()),
  }),
  event('hang', { silent, ranks: z.array(count), doing, last_step: z.nullable(z.int()) }),
  event('moving', { seconds: z.number() }),
  event('node_joined', { host: z.string(), shared: z.optional(z.boolean()) }),
  event('node_lost', { host: z.string(), reason: z.string() }),
  event('waiting_for_nodes', {
    hosts: z.array(z.string()),
    seconds: z.optional(z.number()),
    fewer_after: z.optional(z.nullable(z.number())),
  }),
  event('nodes_replaced', { hosts: z.array(z.string()), by: z.array(z.string()) }),
  event('mirrored', { host: z.string(), checkpoint: z.string() }),
  event('mirror_failed', { host: z.string(), reason: z.string() }),
  event('head_changed', { from: z.string(), to: z.string() }),
  event('sharing', { folder: z.string(), hosts: z.array(z.string()) }),
  event('shared', {
    folder: z.string(),
    hosts: z.array(z.string()),
    files: count,
    bytes: count,
    seconds: z.number(),
  }),
  event('restarting', {
    reason: z.nullable(z.string()),
    restarts_left: count,
    checkpoint: z.optional(z.nullable(z.string())),
  }),
  event('stop_requested', { mode: stopSchema.shape.mode, by: z.string() }),
  event('checkpoint', { step: count, path: z.string(), bytes: count }),
  event('checkpoint_passed_over', { step: count, path: z.string(), reason: z.string() }),
  event('checkpoint_failed', { step: count, message: z.string() }),
  event('evaluator_started', { pid: z.int() }),
  event('evaluator_exited', { pid: z.int(), ...exitFields }),
  event('tensorboard_started', { pid: z.int(), socket: z.string() }),
  event('tensorboard_exited', { pid: z.int(), exit_code: z.nullable(z.int()) }),
  event('disk_low', { free_bytes: count }),
  event('budget_low', moneyFields),
  event('budget_spent', moneyFields),
  event('gap', { lines: count, from: z.number(), to: z.number() }),
  event('figures_damaged', { file: z.string(), reason: z.string() }),
  event('figures_passed_over', { file: z.string(), lines: count, reason: z.string() }),
  event('figures_limited', { what: z.enum(['files', 'tags']), most: count }),
  event('figures_delayed', { reason: z.string() }),
  event('notify_failed', { what: z.string(), of: z.string(), reason: z.string() }),
  event('finished', {
    phase: z.enum(['finished', 'stopped', 'failed']),
    exit_code: z.nullable(z.int()),
    reason: z.nullable(z.string()),
    seconds: z.number(),
  }),
]);
/** A checked line of events.jsonl. */
export type RunEvent = z.infer<typeof eventSchema>;

/** Throws with every problem named when `value` is not a line of events.jsonl. */
export const parseEvent = (value: unknown): RunEvent => demand(eventSchema, value, 'event');

/**
 * A file of `heartbeats`. `time` is in seconds since the epoch. The evaluator's `step` counts
 * images.
 */
export const heartbeatSchema = z.object({
  step: count,
  time: z.number(),
  phase: z.enum(['starting', 'training', 'checkpoint', 'stopping', 'evaluating']),
});

/** A file of `exits`: how one rank ended. `started` and `ended` are in seconds since the epoch. */
export const exitRecordSchema = z.object({
  rank: count,
  host: z.string(),
  pid: z.int(),
  ...exitFields,
  last_step: z.nullable(z.int()),
  started: z.number(),
  ended: z.number(),
  last_line: z.optional(z.nullable(z.string())),
  ...exceptionField,
  ...outcomeFields,
});

// What `--json` prints: one schema for each `type`. docs/contracts/output.schema.json is made of
// these, `Output.json` takes nothing else, and the tests that run verbs hold what is printed to
// them. An object may have more fields in a later version.
import * as z from 'zod/mini';
import { checkpointSchema } from '../../core/contracts/checkpointSchema.js';
import { figureSchema } from '../../core/contracts/figureSchema.js';
import { hostSampleSchema, metricSchema, serverSchema } from '../../core/contracts/metricsSchema.js';
import { profileSchema } from '../../core/contracts/profileSchema.js';
import { queueStandSchema } from '../../core/contracts/agentApi.js';
import { aboutSchema, eventSchema, runFileSchema, stateSchema } from '../../core/contracts/runSchema.js';
import { studySchema } from '../../core/scaling/study.js';
import { trialStatusSchema } from '../../core/sweep/record.js';

const count = z.int().check(z.gte(0));
const texts = z.readonly(z.array(z.string()));
const text = z.string();
const nullable = z.nullable;
const figure = nullable(z.number());
const ofRun = { id: text, dir: text };
const processes = z.array(z.object({ pid: z.int(), what: text }));

/** An object whose `type` is `name`, with nothing but these fields. */
const record = <N extends string, S extends z.core.$ZodShape>(
  name: N,
  shape: S,
): z.ZodMiniObject<{ type: z.ZodMiniLiteral<N> } & S, z.core.$strict> =>
  z.strictObject({ type: z.literal(name), ...shape });

const costSchema = z.strictObject({
  currency: text,
  per_hour: z.number(),
  so_far: z.number(),
  at_end: figure,
  per_epoch: figure,
  to_accuracy: nullable(z.strictObject({ accuracy: z.number(), amount: z.number() })),
  restarts: figure,
  idle: figure,
});

const healthSchema = z.strictObject({
  level: z.enum(['good', 'note', 'warning', 'error']),
  kind: text,
  text,
});

/** Of `run`, `attach`, `run-from` and `resume`: a run that starts, or that is followed from here on. */
const startedRun = record('run', { ...ofRun, run: nullable(runFileSchema) });

/** Of `runs`: a run in the list. */
const listedRun = record('run', {
  ...ofRun,
  ...aboutSchema.shape,
  phase: text,
  health: healthSchema,
  step: nullable(count),
  total_steps: nullable(count),
  images_per_sec: figure,
  images_per_sec_writers: count,
  loss: figure,
  top1: figure,
  cost: nullable(costSchema),
  gpu_hours: figure,
  elsewhere: nullable(text),
  queue: nullable(queueStandSchema),
  run: nullable(runFileSchema),
  state: nullable(stateSchema),
});

const summary = record('summary', {
  ...ofRun,
  phase: text,
  exit_code: nullable(z.int()),
  images_per_sec: figure,
  images_per_sec_writers: count,
  median_images_per_sec: figure,
  seconds: figure,
  cost: nullable(z.strictObject({ amount: z.number(), currency: text })),
  gpu_hours: figure,
  step: nullable(count),
  top1: figure,
  best_top1: figure,
  train_top1: figure,
  train_loss: figure,
  loss_lost_since: nullable(count),
  servers: nullable(z.array(serverSchema)),
  checkpoints: count,
  reason: nullable(text),
  evaluator: nullable(text),
});

const compared = record('compared', {
  id: text,
  name: text,
  tags: texts,
  dir: text,
  profile: text,
  status: text,
  currency: nullable(text),
  settings: z.record(text, text),
  figures: z.record(text, figure),
  own: z.array(z.strictObject({ writer: text, tag: text, last: figure, min: figure, max: figure })),
});

const partition = record('partition', {
  name: text,
  isDefault: z.boolean(),
  isUp: z.boolean(),
  timeLimit: z.optional(z.number()),
  nodes: count,
  idleNodes: count,
  cpus: z.strictObject({ idle: count, total: count }),
  gpus: z.array(z.strictObject({ type: text, total: count, free: z.optional(count) })),
  gpusPerNode: count,
  memoryPerNode: count,
});

const layout = { replicas: count, hosts: count };
const { failed, missing } = studySchema.shape;
const scalingPoint = record('scaling-point', {
  mode: z.enum(['weak', 'strong']),
  ...layout,
  images_per_sec: z.number(),
  low: z.number(),
  high: z.number(),
  speedup: z.number(),
  efficiency: z.number(),
  shares: z.strictObject({ compute: z.number(), communication: z.number(), input: z.number() }),
  run: text,
  command: text,
});
const scaling = record('scaling', {
  folder: text,
  bottleneck: nullable(z.enum(['input', 'link', 'slowRank', 'batch', 'cores', 'none'])),
  words: nullable(text),
  predictions: z.readonly(
    z.array(z.strictObject({ ...layout, imagesPerSec: z.number(), low: z.number(), high: z.number() })),
  ),
  next_node: nullable(
    z.strictObject({
      ...layout,
      moreImagesPerSec: z.number(),
      low: z.number(),
      high: z.number(),
      morePerHour: figure,
      millionNow: figure,
      millionThen: figure,
    }),
  ),
  notes: texts,
  failed,
  missing,
});

const settings = { ranks: nullable(count), flags: nullable(texts) };
const bakeoffCandidate = record('bakeoff-candidate', {
  name: text,
  ...settings,
  images_per_sec: figure,
  low: figure,
  high: figure,
  rounds: count,
  seconds: z.number(),
  outcome: z.enum(['won', 'level', 'dropped', 'failed', 'same', 'notTried']),
  why: text,
  command: text,
});
const bakeoff = record('bakeoff', {
  folder: text,
  winner: nullable(text),
  ...settings,
  rounds: z.readonly(z.array(z.strictObject({ candidates: count, seconds: z.number() }))),
  spent: z.number(),
  budget: z.number(),
  left_out: z.readonly(z.array(z.strictObject({ what: text, why: text }))),
  cancelled: z.boolean(),
});

const sweepTrial = record('sweep-trial', {
  number: count,
  name: text,
  values: z.record(text, text),
  status: trialStatusSchema,
  why: text,
  best: figure,
  last: figure,
  images_per_sec: figure,
  seconds: figure,
  cost: figure,
  currency: nullable(text),
  id: nullable(text),
  dir: nullable(text),
  command: text,
});
const sweep = record('sweep', {
  folder: text,
  name: text,
  metric: text,
  goal: z.enum(['max', 'min']),
  best: nullable(count),
  command: nullable(text),
  trials: count,
  finished: count,
  failed: count,
  pruned: count,
  cancelled: z.boolean(),
});

const staged = record('staged', {
  to: text,
  files: count,
  bytes: count,
  fromSource: count,
  nodes: z.array(z.strictObject({ host: text, files: count, bytes: count, shared: z.boolean() })),
  leftOut: z.array(text),
  leftOutCount: count,
});

const runtime = record('runtime', {
  runtimeDir: text,
  nodeDir: text,
  agent: text,
  trainer: text,
  mpiexec: text,
  python: text,
  tensorboardServer: text,
  nvidia: z.optional(texts),
  hashes: z.strictObject({ agent: text, trainer: text, requirements: text }),
});

/** Every kind of line, by the name under which the schema defines it. */
export const outputRecords = {
  run: startedRun,
  metric: record('metric', { offset: count, line: metricSchema }),
  event: record('event', { offset: count, line: eventSchema }),
  figure: record('figure', { offset: count, line: figureSchema }),
  tensorboard: record('tensorboard', { url: text }),
  queue: record('queue', queueStandSchema.shape),
  waiting: record('waiting', { text }),
  summary,
  profile: record('profile', profileSchema.shape),
  hosts: record('hosts', { hosts: texts }),
  partition,
  trusted: record('trusted', { hosts: texts }),
  check: record('check', {
    name: text,
    ok: z.boolean(),
    detail: text,
    hint: text,
    host: z.optional(text),
    warning: z.optional(z.literal(true)),
    amount: z.optional(z.number()),
  }),
  fix: record('fix', {
    row: text,
    host: text,
    command: text,
    code: nullable(z.int()),
    said: text,
  }),
  sample: record('sample', {
    ...hostSampleSchema.shape,
    cuda_build: nullable(z.strictObject({ release: nullable(count), why: text })),
  }),
  'listed-run': listedRun,
  compared,
  differences: record('differences', { accuracy: figure, settings: z.record(text, z.array(nullable(text))) }),
  'scaling-point': scalingPoint,
  scaling,
  'bakeoff-candidate': bakeoffCandidate,
  bakeoff,
  'sweep-trial': sweepTrial,
  sweep,
  log: record('log', { source: text, offset: count, text, time: z.optional(figure) }),
  checkpoint: record('checkpoint', { ...checkpointSchema.shape, top1: z.optional(z.number()) }),
  prediction: record('prediction', {
    id: text,
    step: count,
    file: text,
    top5: z.array(z.strictObject({ class: text, probability: z.number() })),
  }),
  mistakes: record('mistakes', {
    ...{ id: text, step: nullable(count), images: count, right: count, unlabelled: count },
    classes: z.array(z.strictObject({ class: text, images: count, right: count })),
    confusions: z.array(z.strictObject({ class: text, predicted: text, images: count })),
    surest: z.array(z.strictObject({ file: text, class: text, predicted: text, probability: z.number() })),
  }),
  evaluation: record('evaluation', {
    ...{ id: text, step: count, top1: z.number(), top5: z.number(), loss: figure },
    ...{ images: count, seconds: z.number() },
  }),
  downloaded: record('downloaded', { step: count, path: text, bytes: count, kept: count }),
  'downloaded-files': record('downloaded-files', {
    ...{ file: text, path: text, files: count, bytes: count, kept: count },
    ...{ leftOut: texts, leftOutCount: count },
  }),
  exported: record('exported', {
    ...ofRun,
    to: z.enum(['mlflow', 'wandb', 'csv', 'json']),
    place: text,
    values: count,
    checkpoints: count,
  }),
  'served-tensorboard': record('tensorboard', { ...ofRun, url: text, port: count }),
  debugger: record('debugger', {
    ...ofRun,
    rank: count,
    host: text,
    port: count,
    configuration: z.strictObject({
      name: text,
      type: z.literal('debugpy'),
      request: z.literal('attach'),
      connect: z.strictObject({ host: text, port: count }),
      pathMappings: z.optional(z.array(z.strictObject({ localRoot: text, remoteRoot: text }))),
    }),
  }),
  page: record('page', { ...ofRun, rank: count, host: text, url: text }),
  tunnel: record('tunnel', { local: text, port: count, remote: text }),
  tagged: record('tagged', { ...ofRun, ...aboutSchema.shape }),
  stopped: record('stopped', { ...ofRun, phase: text }),
  killed: record('killed', { ...ofRun, killed: processes, left: processes }),
  deleted: record('deleted', {
    ...ofRun,
    stays: z.array(text),
    stay_count: count,
    unreached: z.array(z.strictObject({ host: text, dir: text, why: text })),
  }),
  'deleted-checkpoint': record('deleted-checkpoint', { ...ofRun, step: count, path: text, bytes: count }),
  process: record('process', {
    host: text,
    pid: z.int(),
    what: text,
    state: z.enum(['found', 'killed', 'left']),
  }),
  cleaned: record('cleaned', { host: text, removed: z.array(text) }),
  staged,
  script: record('script', { script: text }),
  copied: record('copied', { files: count, hosts: texts, to: text }),
  line: record('line', { host: text, stream: z.enum(['stdout', 'stderr']), text, cut: count }),
  exit: record('exit', {
    host: text,
    code: nullable(z.int()),
    signal: nullable(text),
    error: nullable(text),
  }),
  runtime,
} as const;

/** The name of a kind of line. */
export type OutputName = keyof typeof outputRecords;

type Printed = z.input<(typeof outputRecords)[Exclude<OutputName, 'metric' | 'event'>]>;

/** What `Output.json` takes. Lines of a run's files are printed as they stand there, unchecked. */
export type OutputRecord = Printed | { type: 'metric' | 'event'; offset: number; line: unknown };

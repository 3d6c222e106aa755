// What the dashboard's page and the extension say to one another. Plain data: both sides are
// compiled against it, and neither imports the other.
//
// The page says `ready` when it has loaded, and again whenever it finds that it missed something;
// the answer is a full update. Updates after it carry what changed, each with the next `sequence`.
// Nothing is sent to a hidden page: it says `ready` again when it comes back.
//
// Times are seconds since the epoch, sizes bytes, accuracies and utilizations fractions and percent
// as named.

/** A word for how the run stands; the page shows it as it is. */
export type StatusWord =
  | 'queued'
  | 'starting'
  | 'running'
  | 'stopping'
  | 'evaluating'
  | 'finished'
  | 'stopped'
  | 'failed'
  | 'interrupted'
  | 'unknown';

/** How the run is, in words. */
interface HealthLine {
  level: 'good' | 'note' | 'warning' | 'error';
  text: string;
  /** The newest figures are of a time that is over. */
  hasOldFigures: boolean;
}

export interface RunHead {
  id: string;
  /** Short, for titles: what somebody called the run, else a part of its id. */
  name: string;
  tags: readonly string[];
  notes: string;
  dir: string;
  profile: string;
  /** `this machine, 2 ranks`, `gpu1, 8 ranks`, `3 nodes, 24 ranks`. */
  where: string;
  status: StatusWord;
  over: boolean;
  /** Why it ended as it did, one line. */
  reason: string | null;
  /** Starts by its supervisor after the first one, since somebody last resumed it. */
  restarts: number;
  /** Those before that resume too. */
  restartsInAll: number;
  /** How often its supervisor may start it again; null when nobody knows. */
  maxRestarts: number | null;
  health: HealthLine;
  /**
   * What runs: the trainer, or any other program. Null when nobody knows.
   */
  program: 'trainer' | 'command' | null;
  /** As it was typed, without the run folder. */
  command: string;
  model: string | null;
  parameters: number | null;
  device: string | null;
  /** Why that device, where nobody asked for one. */
  deviceWhy: string | null;
  precision: string | null;
  world: number | null;
  globalBatch: number | null;
  /** Its first start. */
  started: number | null;
  /** When it held no nodes between two of its starts, the oldest first. */
  pauses: readonly { from: number; to: number }[];
  ended: number | null;
  /** Seconds of all its starts, up to `until`; on from there, where `until` is not null. */
  took: { seconds: number; until: number | null } | null;
  /** The checkpoint of another run whose weights it began with; the name is short. */
  from: { name: string; step: number } | null;
  /** The step of its own checkpoint from which it went on last. */
  resumedFrom: number | null;
}

export interface Progress {
  step: number | null;
  totalSteps: number | null;
  /** Under way, from 1. */
  epoch: number | null;
  totalEpochs: number | null;
  /** 0 to 1; null when nobody knows how long it will take. */
  fraction: number | null;
  imagesPerSec: number | null;
  medianImagesPerSec: number | null;
  /** How many writers of an own program both are the sum of. */
  rateWriters: number;
  secondsLeft: number | null;
  bestTop1: number | null;
  bestStep: number | null;
  /** Of the training images; null where something was evaluated. */
  trainingTop1: number | null;
  /** Null without a price. */
  cost: RunPrice | null;
  /** GPU hours of a run that Slurm started; null where there are none. */
  gpuHours: string | null;
}

/**
 * Amounts with their currency, `4.61 USD`. Null is what nobody knows, and of a run that is over.
 */
interface RunPrice {
  soFar: string;
  atEnd: string | null;
  perEpoch: string | null;
  /**
   * `3.10 USD until top-1 80%, restarts 0.42 USD`; empty where nothing is known. Of runs that are
   * over too.
   */
  spent: string;
}

/** Figure that may be missing: a diverged loss, a GPU that does not say. */
export type Figure = number | null;

/**
 * Step lines in columns of equal length, oldest first. A long run's rows are merged: each then
 * stands for several steps, its plain columns are means, and Min and Max bound them.
 */
export interface StepColumns {
  /** Of the last step in the row. */
  step: number[];
  time: number[];
  epoch: number[];
  loss: Figure[];
  lossMin: Figure[];
  lossMax: Figure[];
  top1: Figure[];
  lr: number[];
  imagesPerSec: number[];
  imagesPerSecMin: number[];
  imagesPerSecMax: number[];
  stepMs: number[];
  commMs: number[];
  inputWaitMs: number[];
}

/** Rows from `from` on replace what stood there; rows before it still stand. */
export interface Slice<T> {
  from: number;
  rows: T;
}

export interface Evaluation {
  /** When the step that was evaluated was made, for the time axis. */
  time: number;
  step: number;
  top1: number;
  top5: number;
  loss: Figure;
}

/**
 * One curve that an own program reported, oldest first. Rows of a long one are merged: `value` is
 * then a mean, which `min` and `max` bound.
 */
export interface FigureSeries {
  tag: string;
  /** Who wrote it, where several do; empty where one does. */
  writer: string;
  step: number[];
  time: number[];
  value: Figure[];
  min: Figure[];
  max: Figure[];
}

export type MarkKind =
  | 'start'
  | 'restart'
  | 'resume'
  | 'checkpoint'
  | 'checkpoint-failed'
  | 'rank-lost'
  | 'hang'
  | 'stop'
  | 'disk'
  | 'end';

/** Something that happened, on the time axis. */
export interface Mark {
  time: number;
  step: number | null;
  kind: MarkKind;
  /** What happened, for people. */
  text: string;
}

export interface GpuColumns {
  index: number;
  uuid: string;
  name: string;
  memoryTotal: number;
  /** Bytes, a value for each of the host's times. */
  used: Figure[];
  /** Percent. */
  utilization: Figure[];
  /** The newest figures. */
  temperature: Figure;
  power: Figure;
  /** Who holds memory on it now; `ours` is a process of this run. */
  processes: { pid: number; memory: Figure; ours: boolean }[];
  /** What is wrong with it, in words; empty where nothing is. */
  trouble: string;
}

/** A node's figures, oldest first; what is old is thinned. */
export interface HostColumns {
  host: string;
  memoryTotal: number;
  /** Bytes; null while the file system gives no answer. */
  diskFree: Figure;
  time: number[];
  cpuPercent: number[];
  memoryUsed: number[];
  gpus: GpuColumns[];
  /** Which figures are old because nobody answers, in words; empty where none are. */
  missing: string;
}

/** Memory of one rank's process (of its device on a GPU), and where the time of its steps goes. */
export interface RankColumns {
  rank: number;
  host: string;
  device: string;
  time: number[];
  used: number[];
  /** The highest so far, bytes. */
  peak: number;
  /** Of its newest steps: medians a step, in milliseconds. Null where the rank does not say. */
  times: { compute: number; comm: number; input: number } | null;
  /** Why the others wait for it, in words; empty where they do not. */
  slow: string;
}

type LogLevel = 'info' | 'warning' | 'error';

export interface LogLine {
  /** Counts up over the whole run; lines are in this order. */
  serial: number;
  /** When it was written, where that is known. */
  time: Figure;
  /** `journal`, `rank 0`, `eval`. */
  source: string;
  level: LogLevel;
  text: string;
}

export interface CheckpointSummary {
  count: number;
  latestStep: number | null;
  latestTime: number | null;
  bestStep: number | null;
}

/** Everything, or what changed since the update before it. */
export interface DashboardUpdate {
  type: 'update';
  /** Nothing that the page holds stands any longer; every slice begins at 0. */
  full: boolean;
  sequence: number;
  /** The extension's clock when this was sent. */
  now: number;
  /** Whether updates arrive; `since` is when one last did. */
  connection: { state: 'connected' | 'lost'; since: number };
  head: RunHead;
  progress: Progress;
  checkpoints: CheckpointSummary;
  steps: Slice<StepColumns>;
  evaluations: Slice<Evaluation[]>;
  /** Of an own program: only curves with new rows. */
  figures: Slice<FigureSeries>[];
  marks: Slice<Mark[]>;
  /**
   * Only hosts with new rows; each says from which of its rows on. A host's list of GPUs never changes.
   */
  hosts: Slice<HostColumns>[];
  ranks: Slice<RankColumns>[];
  /** `from` counts serials: lines with smaller ones stand. The oldest may have been let go. */
  log: Slice<LogLine[]>;
}

/** The run's folder is gone, or cannot be reached at all: a page that says so instead of charts. */
interface DashboardProblem {
  type: 'problem';
  message: string;
}

export type ToPage = DashboardUpdate | DashboardProblem;

/** Acts that the page offers; the extension carries them out with its own commands. */
export type PageAction =
  | 'stopAfterCheckpoint'
  | 'stopNow'
  | 'openTensorBoard'
  | 'openLogs'
  | 'revealFolder'
  | 'resumeRun'
  | 'describeRun'
  | 'cloneRun'
  | 'openTerminal'
  | 'evaluateCheckpoint'
  | 'runFromCheckpoint'
  | 'downloadCheckpoint'
  | 'openOrigin'
  | 'showCheckpoints';

/** A chart to be written to a file: `data` is SVG's or CSV's text, or a PNG in base64. */
export interface SavedChart {
  form: 'png' | 'svg' | 'csv';
  /** Of the file, without its ending. */
  name: string;
  data: string;
}

export type FromPage =
  | { type: 'ready' }
  | { type: 'action'; action: PageAction }
  | ({ type: 'save' } & SavedChart)
  | { type: 'notSaved'; message: string }
  /** A defect in the page, for the extension's log. */
  | { type: 'failed'; message: string };

/** One curve of a run that is compared: columns of equal length. */
interface ComparedCurve {
  name: string;
  step: number[];
  epoch: Figure[];
  /** For which the run had held its nodes. */
  hours: number[];
  value: Figure[];
}

interface ComparedRow {
  id: string;
  /** What people call it; else the id without its date. */
  label: string;
  tags: string[];
  profile: string;
  dir: string;
  status: string;
  curves: ComparedCurve[];
}

/** One figure of every run, in the order of the runs. */
export interface ComparedColumn {
  key: string;
  title: string;
  /** Which values are the better ones; null where that means nothing. */
  better: 'high' | 'low' | null;
  values: Figure[];
  texts: string[];
}

/** Everything that the page of a comparison shows. */
export interface ComparisonUpdate {
  type: 'comparison';
  runs: ComparedRow[];
  /** Null where a run lacks the setting. */
  differences: { name: string; values: (string | null)[] }[];
  columns: ComparedColumn[];
  /** The fraction that time and price are asked for; null where no run has one. */
  accuracy: number | null;
  /** Runs that are still to be read. */
  pending: number;
  /** Why runs could not be read, a sentence each. */
  problems: string[];
  /** When the newest was read, seconds since the epoch. */
  time: number;
}

export type TableForm = 'csv' | 'json' | 'markdown';

export type FromComparePage =
  | { type: 'ready' }
  /** Reads all runs again. */
  | { type: 'refresh' }
  | { type: 'accuracy'; fraction: number }
  /** `rows` are places in `runs`, in the order in which they are shown. */
  | { type: 'export'; form: TableForm; rows: number[] }
  | ({ type: 'save' } & SavedChart)
  | { type: 'open'; row: number }
  /** A defect in the page, for the extension's log. */
  | { type: 'failed'; message: string };

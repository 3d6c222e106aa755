// A line on a run in a list: from its metrics file, of which only what is new is read at each look.
import { gpuHoursOf } from '../cost/gpuHours.js';
import { costOf, type RunCost } from '../cost/runCost.js';
import { Figures } from '../model/series/figures.js';
import { evaluationData } from '../plan/evaluated.js';
import { RunMetrics, type OtherEvaluation, type RunProgress } from '../model/runMetrics.js';
import { metricSchema } from '../contracts/metricsSchema.js';
import { ByteTail } from '../streams/tail.js';
import { agentErrors, type RunEntry } from '../contracts/agentApi.js';
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import { eventOf } from '../agent/journal.js';
import { readRemote } from '../agent/remoteFile.js';
import { check } from '../base/validation.js';
import { isMeasured } from '../model/measured.js';
import { hasOldFigures, healthOf, type Health } from '../model/runHealth.js';
import { RunJournal } from '../model/runJournal.js';
import { isOver, reasonOf, statusOf, waitingText, type RunStatus } from '../model/runStatus.js';
import { lostToLast, spendingOf, type Spending } from '../model/spending.js';
import { startsBy } from '../model/starts.js';
import { join, type NodePath } from '../base/nodePath.js';
import { figuresFile, parseFigure } from './figureLines.js';
import { GpuUseReading } from './hostFigures.js';
import { idleGpusOf, type GpuUse } from '../model/hosts/idleGpus.js';

const metricsFile = 'metrics.jsonl';
/** Of metrics that were not read yet: beyond this the node merges steps, but for the newest lines. */
const longMetrics = 2 * 1024 * 1024;
/** Of the newest lines, which are read as they are. */
const newestBytes = 1024 * 1024;
/** Step lines that the node merges the others into. */
const mostRows = 780;
/** Bytes read of another file at one look; a longer one is caught up with over several. */
const mostBytes = 4 * 1024 * 1024;
/** Read of the end of what an own program reported: the newest figures are asked for. */
const figureBytes = 1024 * 1024;
/** Read of the end of a journal: what is wrong now stands there. */
const journalBytes = 256 * 1024;

/**
 * One run as a line of the list. What its metrics do not tell is undefined; times are in seconds
 * since the epoch.
 */
export interface RunOverview extends RunProgress {
  entry: RunEntry;
  status: RunStatus;
  health: Health;
  /** Why the next generation is about to start, where the supervisor has said that it will. */
  restarting: string | undefined;
  imagesPerSec: number | undefined;
  /** The median of its last step lines (`recentLines`), also of a run that is over. */
  medianRate: number | undefined;
  /** How many writers of an own program `imagesPerSec` is the sum of; 1 for one alone, and ours. */
  rateWriters: number;
  /** Of an own program: the newest loss, where its name says that it is one. */
  loss: number | undefined;
  /** Of the last step's evaluation; without any, of the last training steps. A fraction. */
  top1: number | undefined;
  best: { step: number; top1: number } | undefined;
  /** Of the checkpoint of a step, where it was evaluated; a fraction. */
  top1At: (step: number) => number | undefined;
  /** Of the checkpoint of a step: its evaluation on other images than the run's own. */
  otherAt: (step: number) => OtherEvaluation | undefined;
  /** The newest checkpoint that the metrics tell of. */
  checkpoint: { step: number; time: number } | undefined;
  secondsLeft: number | undefined;
  /** Time for one step lately, seconds. */
  secondsPerStep: number | undefined;
  /** Undefined where the profile named no price at the start. */
  cost: RunCost | undefined;
  /** Of a run that Slurm gave GPUs, over all its starts. */
  gpuHours: number | undefined;
  /**
   * What its price went to; of an accuracy (a fraction), or of the whole percent that was reached.
   */
  spending: (accuracy?: number) => Spending | undefined;
}

/** What one run's lines came to so far. */
class Reading {
  private tail = new ByteTail(0);
  private metrics: RunMetrics;

  constructor(public entry: RunEntry) {
    this.metrics = this.begin();
  }

  /** Reads on, up to `size` bytes. Errors are those of `AgentClient.request`. */
  async readOn(client: AgentClient, dir: NodePath, size: number): Promise<void> {
    if (size < this.tail.received) this.restart();
    if (size - this.tail.received > longMetrics) await this.readMerged(client, dir, size - newestBytes);
    while (this.tail.received < size) {
      const from = this.tail.received;
      const wanted = Math.min(longMetrics, size - from);
      const bytes = await readRemote(client, join(dir, metricsFile), from, wanted);
      if (bytes.length === 0) return; // the file was cut meanwhile
      this.take(from, bytes);
    }
  }

  overview(
    entry: RunEntry,
    status: RunStatus,
    { figures, journal, use }: { figures: Figures; journal: RunJournal; use: ReadonlyMap<string, GpuUse> },
  ): RunOverview {
    const { progress, lastStep, lastEvaluation, best, checkpoints, secondsLeft, secondsPerStep } =
      this.metrics;
    const over = isOver(status);
    const generation = entry.state?.generation ?? 1;
    const newest = Math.max(generation, journal.generation);
    const restarting = !over && journal.restarting && journal.generation >= generation;
    const health = healthOf({
      status,
      reason: reasonOf(entry),
      waiting: waitingText(entry),
      queue: entry.queue,
      generation: newest,
      starts: startsBy(entry.run, entry.state, newest),
      lost: lostToLast(entry.run, entry.state, this.metrics),
      maxRestarts: entry.run?.limits.maxRestarts,
      isOwnProgram: entry.run?.program === 'command',
      journal,
      metrics: this.metrics,
      lossLostSince: figures.lossLostSince,
      idleGpus: idleGpusOf(entry, use, journal.began),
      now: entry.state?.updated ?? 0,
    });
    return {
      ...progress,
      entry,
      status,
      health,
      restarting: restarting ? (journal.cause?.text ?? '') : undefined,
      step: progress.step ?? figures.step,
      imagesPerSec: over ? undefined : (lastStep?.images_per_sec ?? figures.imagesPerSec),
      medianRate: this.metrics.recent.imagesPerSec,
      rateWriters: lastStep ? 1 : Math.max(1, figures.rateWriters),
      loss: figures.loss,
      top1: lastEvaluation?.top1 ?? lastStep?.top1 ?? undefined,
      best,
      top1At: (wanted) => this.metrics.evaluations.at(wanted)?.top1,
      otherAt: (wanted) => this.metrics.otherEvaluations.at(wanted),
      checkpoint: checkpoints.latest,
      // A run whose figures are old does not go on at their rate. A report ends its runs itself.
      secondsLeft: over || hasOldFigures(health) || isMeasured(entry) ? undefined : secondsLeft,
      secondsPerStep,
      cost: costOf(entry.run, entry.state, { ...progress, over, secondsLeft, secondsPerStep }),
      gpuHours: gpuHoursOf(entry.run, entry.state),
      spending: (accuracy) => spendingOf(entry.run, entry.state, this.metrics, accuracy),
    };
  }

  private begin(): RunMetrics {
    return new RunMetrics(undefined, () => evaluationData(this.entry));
  }

  /** The first `end` bytes, merged by the node. Where even so they are too many, nothing is read. */
  private async readMerged(client: AgentClient, dir: NodePath, end: number): Promise<void> {
    try {
      const { size, lines } = await client.request('metrics.read', { dir, rows: mostRows, end });
      this.restart();
      this.tail = new ByteTail(size);
      for (const line of lines) this.add(line);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== agentErrors.refused) throw error;
    }
  }

  private restart(): void {
    this.tail = new ByteTail(0);
    this.metrics = this.begin();
  }

  private take(offset: number, bytes: Buffer): void {
    for (const { text } of this.tail.push(offset, bytes) ?? []) {
      let raw: unknown;
      try {
        raw = JSON.parse(text);
      } catch {
        continue; // a line that was cut off by a full disk
      }
      this.add(raw);
    }
  }

  private add(raw: unknown): void {
    const result = check(metricSchema, raw);
    if (result.ok) this.metrics.add(result.data);
  }
}

/** What an own program reported so far; of a long file only the end is read. */
class FigureReading {
  figures = new Figures();
  private tail: ByteTail | undefined;

  async readOn(client: AgentClient, path: NodePath, size: number): Promise<boolean> {
    if (size < (this.tail?.received ?? 0)) {
      this.figures = new Figures();
      this.tail = undefined;
    }
    this.tail ??= new ByteTail(Math.max(0, size - figureBytes));
    const from = this.tail.received;
    if (size > from) {
      const bytes = await readRemote(client, path, from, Math.min(mostBytes, size - from));
      for (const { text } of this.tail.push(from, bytes) ?? []) {
        const line = parseFigure(text);
        if (line) this.figures.add(line);
      }
    }
    return this.tail.received >= size;
  }
}

/** What the end of the journal says. */
class JournalReading {
  journal = new RunJournal();
  private tail: ByteTail | undefined;

  async readOn(client: AgentClient, path: NodePath, size: number): Promise<void> {
    if (size < (this.tail?.received ?? 0)) {
      this.journal = new RunJournal();
      this.tail = undefined;
    }
    this.tail ??= new ByteTail(Math.max(0, size - journalBytes));
    const from = this.tail.received;
    if (size <= from) return;
    const bytes = await readRemote(client, path, from, Math.min(mostBytes, size - from));
    for (const { text } of this.tail.push(from, bytes) ?? []) {
      const event = eventOf(text);
      if (event) this.journal.add(event);
    }
  }
}

/** Reads overviews; what it read of each run is kept until the run is no longer listed. */
export class OverviewReader {
  private readonly readings = new Map<string, Reading>();
  private readonly reports = new Map<string, FigureReading>();
  private readonly journals = new Map<string, JournalReading>();
  private readonly gpus = new Map<string, GpuUseReading>();
  private readonly done = new Map<string, RunOverview>();

  async read(client: AgentClient, entry: RunEntry): Promise<RunOverview> {
    const status = statusOf(entry);
    const known = this.done.get(entry.dir);
    if (known?.status === status && known.entry.state?.updated === entry.state?.updated) {
      return { ...known, entry };
    }
    const reading = this.readings.get(entry.dir) ?? new Reading(entry);
    reading.entry = entry;
    this.readings.set(entry.dir, reading);
    const { files } = await client.request('run.get', { dir: entry.dir });
    await reading.readOn(client, entry.dir, files[metricsFile] ?? 0);
    const reports = this.reports.get(entry.dir) ?? new FigureReading();
    this.reports.set(entry.dir, reports);
    const reported = files[figuresFile] ?? 0;
    const wholeReports = await reports.readOn(client, join(entry.dir, figuresFile), reported);
    const journal = this.journals.get(entry.dir) ?? new JournalReading();
    this.journals.set(entry.dir, journal);
    // How a run ended its state says, and not what became of its evaluator.
    if (!isOver(status) || (entry.run?.evaluator ?? null) !== null) {
      await journal.readOn(client, join(entry.dir, 'events.jsonl'), files['events.jsonl'] ?? 0);
    }
    const gpus = this.gpus.get(entry.dir) ?? new GpuUseReading();
    this.gpus.set(entry.dir, gpus);
    if (status === 'running') await gpus.readOn(client, entry, files);
    const overview = reading.overview(entry, status, {
      figures: reports.figures,
      journal: journal.journal,
      use: gpus.use,
    });
    if (isOver(status) && wholeReports) this.done.set(entry.dir, overview);
    else this.done.delete(entry.dir);
    return overview;
  }

  /** Reads a run anew at the next look, also one that is over: something was added to its files. */
  readAgain(dir: NodePath): void {
    this.done.delete(dir);
  }

  /** Forgets runs that are no longer listed. */
  retain(entries: readonly RunEntry[]): void {
    const dirs = new Set<string>(entries.map(({ dir }) => dir));
    for (const dir of [...this.readings.keys()]) {
      if (dirs.has(dir)) continue;
      this.readings.delete(dir);
      this.reports.delete(dir);
      this.journals.delete(dir);
      this.gpus.delete(dir);
      this.done.delete(dir);
    }
  }
}

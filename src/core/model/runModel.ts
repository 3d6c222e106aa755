// Everything known of one run, put together from its files' lines; bounded, however long the run.
import { HostTable } from './hosts/hostTable.js';
import { idleGpusOf, type GpuUse } from './hosts/idleGpus.js';
import { RankTable } from './hosts/rankTable.js';
import type { FigureLine } from '../contracts/figureSchema.js';
import { Figures } from './series/figures.js';
import { healthOf, type Health } from './runHealth.js';
import { RunJournal } from './runJournal.js';
import { RunMetrics } from './runMetrics.js';
import type { HostSample, Metric } from '../contracts/metricsSchema.js';
import { GrowingList } from '../streams/slices.js';
import { StepTable } from './series/stepTable.js';
import type { RunDetails } from '../contracts/agentApi.js';
import { LogBuffer } from './logBuffer.js';
import { eventLevel, eventText, gapText, markOf, type Mark } from './marks.js';
import { ReturnedNodes } from './returnedNodes.js';
import type { RunEvent } from '../contracts/runSchema.js';
import { reasonOf, statusOf, waitingText, type RunStatus } from './runStatus.js';
import { lostToLast } from './spending.js';
import { startsBy } from './starts.js';

/** Marks kept; a run of weeks makes more checkpoints than anybody can look at. */
const mostMarks = 4000;

/**
 * One run in full: steps, marks, hosts, ranks and the last lines of its logs. `RunFeed` fills it.
 */
export class RunModel {
  readonly marks = new GrowingList<Mark>(mostMarks);
  readonly hosts = new Map<string, HostTable>();
  readonly ranks = new Map<number, RankTable>();
  readonly log = new LogBuffer();
  private journal = new RunJournal();
  private returned = new ReturnedNodes();
  private current: RunDetails | undefined;
  private discarded = 0;
  private table = new StepTable();
  private read: RunMetrics;
  private reported = new Figures();

  /** `ownData` as `RunMetrics` has it. */
  constructor(private readonly ownData?: () => string | undefined) {
    this.read = new RunMetrics(this.table, ownData);
  }

  get details(): RunDetails | undefined {
    return this.current;
  }

  set details(details: RunDetails | undefined) {
    this.current = details;
  }

  get status(): RunStatus {
    return this.current ? statusOf(this.current) : 'unknown';
  }

  /** How the run is; undefined before anything is known of it. */
  get health(): Health | undefined {
    const { current, journal, metrics } = this;
    if (!current) return undefined;
    const { run, state } = current;
    const generation = Math.max(state?.generation ?? 1, journal.generation);
    return healthOf({
      status: this.status,
      reason: reasonOf(current),
      waiting: waitingText(current),
      queue: current.queue,
      generation,
      starts: startsBy(run, state, generation),
      lost: lostToLast(run, state, metrics),
      maxRestarts: run?.limits.maxRestarts,
      isOwnProgram: run?.program === 'command',
      journal,
      metrics,
      lossLostSince: this.reported.lossLostSince,
      idleGpus: idleGpusOf(current, this.gpuUse, journal.began),
      now: state?.updated ?? 0,
    });
  }

  private get gpuUse(): Map<string, GpuUse> {
    return new Map([...this.hosts].map(([host, { use }]) => [host, use]));
  }

  /** What metrics.jsonl comes to; another one after each reset. */
  get metrics(): RunMetrics {
    return this.read;
  }

  /** What an own program reported; another one after each reset. */
  get figures(): Figures {
    return this.reported;
  }

  addFigure(line: FigureLine): void {
    this.reported.add(line);
  }

  /** figures.jsonl was replaced: what came from it no longer stands. */
  resetFigures(): void {
    this.discarded++;
    this.reported = new Figures();
  }

  /** The step lines of `metrics`. */
  get steps(): StepTable {
    return this.table;
  }

  addMetric(metric: Metric): void {
    const { badImages } = this.read;
    this.read.add(metric);
    switch (metric.kind) {
      case 'start':
        if (this.read.start === metric) this.forgetRanksFrom(metric.world + (metric.servers ?? 0));
        if (metric.recipe_changes?.length) {
          const changes = metric.recipe_changes.join('; ');
          this.log.add('journal', `resumed with another recipe: ${changes}`, 'warning', metric.time);
        }
        break;
      case 'host':
        this.rankTable(metric.rank).push(metric);
        break;
      case 'bad_image':
        if (this.read.badImages > badImages) {
          const text = `unreadable image ${metric.path}: ${metric.message}`;
          this.log.add('journal', text, 'warning', metric.time);
        }
        break;
      case 'gap':
        this.log.add('journal', gapText(metric, 'metrics'), 'warning', metric.time);
        break;
      case 'step':
      case 'eval':
      case 'checkpoint':
      case 'checkpoint_failed': // the journal says it too
      case 'checkpoint_passed_over':
      case 'end':
        break;
    }
  }

  /**
   * Counts how often something that was known stopped to stand; who holds a copy must take a new
   * one.
   */
  get resets(): number {
    return this.discarded;
  }

  /** metrics.jsonl was replaced: what came from it no longer stands. */
  resetMetrics(): void {
    this.discarded++;
    this.table = new StepTable();
    this.read = new RunMetrics(this.table, this.ownData);
    this.ranks.clear();
  }

  /** The journal is read again from its start. */
  resetEvents(): void {
    this.journal = new RunJournal();
    this.returned = new ReturnedNodes();
    this.marks.replace([]);
  }

  addEvent(event: RunEvent): void {
    // Ranks that end because another one did are no losses of their own.
    const isConsequence = event.kind === 'rank_exited' && this.journal.cause !== undefined;
    const isByHand = event.kind === 'started' && this.isByHand(event.time);
    this.journal.add(event);
    const mark = isConsequence ? undefined : markOf(event, isByHand);
    if (mark) this.marks.push(mark);
    const level = eventLevel(event);
    const shown = isConsequence && level === 'error' ? 'warning' : level;
    const text = this.returned.add(event) ?? eventText(event, isByHand);
    this.log.add('journal', text, shown, event.time);
  }

  /** Whether somebody began the generation that begins now, and not its supervisor. */
  private isByHand(time: number): boolean {
    const { run = null, state = null } = this.current ?? {};
    const { began, isOver } = this.journal;
    if (began === undefined) return false;
    if (isOver && run && !run.slurm) return true;
    return startsBy(run, state).resumes.some((resume) => began < resume && resume <= time);
  }

  addSample(host: string, sample: HostSample): void {
    this.hostTable(host).push(sample);
  }

  resetHost(host: string): void {
    this.discarded++;
    this.hosts.get(host)?.clear();
  }

  private hostTable(host: string): HostTable {
    const known = this.hosts.get(host);
    if (known) return known;
    const table = new HostTable(host);
    this.hosts.set(host, table);
    return table;
  }

  /** A restart may have fewer ranks; what the others had is nobody's now. */
  private forgetRanksFrom(count: number): void {
    const gone = [...this.ranks.keys()].filter((rank) => rank >= count);
    if (gone.length > 0) this.discarded++;
    for (const rank of gone) this.ranks.delete(rank);
  }

  private rankTable(rank: number): RankTable {
    const known = this.ranks.get(rank);
    if (known) return known;
    const table = new RankTable();
    this.ranks.set(rank, table);
    return table;
  }
}

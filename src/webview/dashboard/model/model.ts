// What the page knows of the run: updates merged in, and which of its parts are new.
import type {
  CheckpointSummary,
  DashboardUpdate,
  Evaluation,
  FigureSeries,
  HostColumns,
  LogLine,
  Mark,
  Progress,
  RankColumns,
  RunHead,
  StepColumns,
} from '../../protocol.js';
import {
  copySteps,
  emptySteps,
  splice,
  spliceFigures,
  spliceHost,
  spliceRank,
  spliceSteps,
} from './columns.js';

/** Lines kept for filtering; what is older is in the log file. */
const mostLines = 20_000;

export type Part = 'head' | 'steps' | 'evaluations' | 'figures' | 'marks' | 'devices' | 'log';

/** A pause that run time leaves out: where that is, and how long the pause was, both in seconds. */
export interface Cut {
  at: number;
  seconds: number;
}

/** `gap`: something was missed, a full update is needed. `early`: still waiting for that one. */
export type Outcome = 'applied' | 'gap' | 'early';

export class PageModel {
  sequence = -1;
  now = 0;
  connection: DashboardUpdate['connection'] = { state: 'connected', since: 0 };
  head: RunHead | undefined;
  progress: Progress | undefined;
  checkpoints: CheckpointSummary | undefined;
  steps: StepColumns = emptySteps();
  evaluations: Evaluation[] = [];
  figures: FigureSeries[] = [];
  marks: Mark[] = [];
  hosts: HostColumns[] = [];
  ranks: RankColumns[] = [];
  log: LogLine[] = [];
  /** Counts up whenever a part changes. */
  readonly revisions: Record<Part, number> = {
    head: 0,
    steps: 0,
    evaluations: 0,
    figures: 0,
    marks: 0,
    devices: 0,
    log: 0,
  };
  /** Steps before this row have not changed since `takeNewSteps` was last asked. */
  private newSteps = 0;
  private waiting = true;

  apply(update: DashboardUpdate): Outcome {
    if (!update.full) {
      if (this.waiting) return 'early';
      if (update.sequence !== this.sequence + 1) return this.gap();
    }
    if (update.full) this.clear();
    this.waiting = false;
    if (!this.merge(update)) return this.gap();
    this.sequence = update.sequence;
    return 'applied';
  }

  /** The first row of the steps that changed since this was last asked. */
  takeNewSteps(): number {
    const from = this.newSteps;
    this.newSteps = this.steps.step.length;
    return from;
  }

  /** Zero of the time axis, seconds since the epoch. */
  get origin(): number {
    return this.head?.started ?? this.steps.time[0] ?? this.marks[0]?.time ?? this.now;
  }

  /**
   * Seconds that the run had run at a time (seconds since the epoch), from its origin on: those in
   * which it held no nodes, between a stop and a resume, are left out.
   */
  runTime(time: number): number {
    return this.withoutPauses(time) - this.origin;
  }

  /** A time as it would be if the run had had no pauses before it; seconds since the epoch. */
  withoutPauses(time: number): number {
    const { pauses = [] } = this.head ?? {};
    return pauses.reduce((left, { from, to }) => left - Math.max(0, Math.min(time, to) - from), time);
  }

  /** The same of many. Without pauses they are these very times. */
  allWithoutPauses(times: number[]): number[] {
    const isWhole = (this.head?.pauses.length ?? 0) === 0;
    return isWhole ? times : times.map((time) => this.withoutPauses(time));
  }

  get cuts(): Cut[] {
    return (this.head?.pauses ?? []).map(({ from, to }) => {
      return { at: this.runTime(from), seconds: to - from };
    });
  }

  /** As it is now, untouched by what comes later. */
  frozen(): PageModel {
    const copy = new PageModel();
    Object.assign(copy, this, {
      revisions: { ...this.revisions },
      steps: copySteps(this.steps),
      evaluations: this.evaluations.slice(),
      figures: structuredClone(this.figures),
      marks: this.marks.slice(),
      hosts: structuredClone(this.hosts),
      ranks: structuredClone(this.ranks),
      log: this.log.slice(),
    });
    copy.newSteps = 0;
    return copy;
  }

  private gap(): Outcome {
    this.waiting = true;
    return 'gap';
  }

  private clear(): void {
    this.steps = emptySteps();
    this.evaluations = [];
    this.figures = [];
    this.marks = [];
    this.hosts = [];
    this.ranks = [];
    this.log = [];
    this.newSteps = 0;
    for (const part of Object.keys(this.revisions) as Part[]) this.revisions[part]++;
  }

  private merge(update: DashboardUpdate): boolean {
    const { head, progress, checkpoints, now, connection } = update;
    Object.assign(this, { head, progress, checkpoints, now, connection });
    this.revisions.head++;
    return (
      this.mergeSteps(update) &&
      this.mergeList('evaluations', this.evaluations, update.evaluations) &&
      this.mergeFigures(update) &&
      this.mergeList('marks', this.marks, update.marks) &&
      this.mergeDevices(update) &&
      this.mergeLog(update)
    );
  }

  private mergeSteps({ steps }: DashboardUpdate): boolean {
    const before = this.steps.step.length;
    if (steps.from === before && steps.rows.step.length === 0) return true;
    if (!spliceSteps(this.steps, steps)) return false;
    this.newSteps = Math.min(this.newSteps, steps.from);
    this.revisions.steps++;
    return true;
  }

  private mergeFigures({ figures }: DashboardUpdate): boolean {
    if (figures.length === 0) return true;
    this.revisions.figures++;
    return figures.every((slice) => {
      const { tag, writer } = slice.rows;
      const known = this.figures.find((one) => one.tag === tag && one.writer === writer);
      if (known) return spliceFigures(known, slice);
      this.figures.push(structuredClone(slice.rows));
      return slice.from === 0;
    });
  }

  private mergeList<T>(part: Part, target: T[], { from, rows }: { from: number; rows: T[] }): boolean {
    if (from === target.length && rows.length === 0) return true;
    this.revisions[part]++;
    return splice(target, from, rows);
  }

  private mergeDevices({ hosts, ranks }: DashboardUpdate): boolean {
    if (hosts.length === 0 && ranks.length === 0) return true;
    this.revisions.devices++;
    const hostsFit = hosts.every((slice) => {
      const known = this.hosts.find(({ host }) => host === slice.rows.host);
      if (known) return spliceHost(known, slice);
      this.hosts.push(structuredClone(slice.rows));
      return slice.from === 0;
    });
    return (
      hostsFit &&
      ranks.every((slice) => {
        const known = this.ranks.find(({ rank }) => rank === slice.rows.rank);
        if (known) return spliceRank(known, slice);
        this.ranks.push(structuredClone(slice.rows));
        this.ranks.sort((a, b) => a.rank - b.rank);
        return slice.from === 0;
      })
    );
  }

  private mergeLog({ log: { from, rows } }: DashboardUpdate): boolean {
    const last = this.log.at(-1)?.serial ?? -1;
    if (rows.length === 0 && from > last) return true;
    this.revisions.log++;
    while ((this.log.at(-1)?.serial ?? -1) >= from) this.log.pop();
    for (const line of rows) this.log.push(line);
    if (this.log.length > mostLines) this.log.splice(0, this.log.length - mostLines * 0.9);
    return true;
  }
}

// A run as an offline run of W&B, which `wandb sync` uploads. This program knows no login of W&B and
// reaches no server of it.
import { UserError } from '../../base/errors.js';
import { makeFolder } from '../../base/makeFolder.js';
import type { Progress } from '../../base/progress.js';
import type { RunStatus } from '../../model/runStatus.js';
import { factsOf, type RunFacts } from '../facts.js';
import type { RunRecord } from '../runRecord.js';
import type { Tracker } from '../tracker.js';
import {
  configRecord,
  exitRecord,
  historyRecord,
  metricRecord,
  runRecord,
  summaryRecord,
  type WandbRecord,
} from './records.js';
import { RunFolder } from './runFolder.js';

/** The x values of curves: W&B's own step only counts rows. */
const stepAxis = 'trainyard/step';
/** Of samples of hosts and GPUs: seconds since the run was created. */
const secondsAxis = 'trainyard/seconds';

/** What is exported, and where to. */
export interface WandbOptions {
  /** The folder in which `wandb` is, or is to be made. */
  parent: string;
  project: string;
  /** Empty for that of the login. */
  entity: string;
  /** The profile of the run. */
  profile: string;
  /** In words, for a run that is over and for one that is not. */
  howToUpload: (path: string, over: boolean) => string;
  /** Is given what a user should know. */
  onNote: (text: string) => void;
}

/** One run. */
export class WandbTracker implements Tracker {
  private folder: RunFolder | undefined;
  private announced = '';

  constructor(private readonly options: WandbOptions) {}

  async demand(): Promise<void> {
    await makeFolder(this.options.parent);
  }

  async sync(record: RunRecord, { onProgress }: Progress): Promise<void> {
    const facts = factsOf(record, this.options.profile);
    const run = { parent: this.options.parent, id: facts.id, started: facts.started };
    try {
      let folder = (this.folder ??= await RunFolder.find(run, [stepAxis, secondsAxis]));
      if (!match(folder, record)) folder = await this.replace(folder, record);
      const rows = rowsOf(record);
      onProgress?.(`${rows.length} rows of values to ${folder.path}`);
      const lacking = this.recordsOf(folder, facts, record, rows);
      if (lacking.length > 0) await folder.add(lacking);
      this.announce(folder, facts);
      for (const series of record.series.values()) series.matchAll();
    } catch (error) {
      this.folder = undefined;
      for (const series of record.series.values()) series.forget();
      throw error;
    }
  }

  addCheckpoint(): Promise<void> {
    const hint = 'Export without checkpoints, and download them';
    return Promise.reject(new UserError('usage', 'a folder of W&B takes no checkpoints', hint));
  }

  finish(): Promise<string> {
    if (!this.folder) throw new TypeError('nothing was exported yet');
    return Promise.resolve(this.folder.path);
  }

  /** How the user uploads it, once while the run goes on and once at its end. */
  private announce({ path }: RunFolder, { over }: RunFacts): void {
    const text = this.options.howToUpload(path, over);
    if (text === this.announced) return;
    this.announced = text;
    this.options.onNote(text);
  }

  private async replace(folder: RunFolder, record: RunRecord): Promise<RunFolder> {
    const next = (this.folder = await folder.replace());
    for (const series of record.series.values()) series.match(nothing);
    if (next.id !== folder.id) {
      this.options.onNote(
        `steps that were uploaded were repeated, and W&B takes no value back: ${next.path} has what stands. Delete the run ${folder.id} in W&B`,
      );
    }
    return next;
  }

  /** What the file lacks. */
  private recordsOf(
    folder: RunFolder,
    facts: RunFacts,
    record: RunRecord,
    rows: readonly Row[],
  ): WandbRecord[] {
    const { project, entity } = this.options;
    const { name, notes, tags, started } = facts;
    const all: WandbRecord[] = [
      runRecord({ id: folder.id, entity, project, name, notes, tags, started }),
      configRecord({ ...facts.settings, 'trainyard/run': facts.id }),
    ];
    for (const [curve, { appendOnly }] of record.series) {
      const shown = shownName(curve);
      if (!folder.hasAxisOf(shown)) all.push(metricRecord(shown, appendOnly ? secondsAxis : stepAxis));
    }
    for (const [index, row] of rows.entries()) all.push(rowRecord(folder.rows + index, row, started));
    all.push(summaryRecord(summaryOf(facts, record)));
    const lacking = all.filter((one) => !folder.has(one));
    const end = exitRecord(exitCodeOf(facts.status), secondsOf(facts));
    // The end makes way for what is added, and is last again.
    if (facts.over && (lacking.length > 0 || !folder.has(end))) lacking.push(end);
    return lacking;
  }
}

/** Values of one time and step. */
interface Row {
  axis: string;
  step: number;
  time: number;
  values: [string, number][];
}

/** What was not written, in the order of time. */
function rowsOf(record: RunRecord): Row[] {
  const rows = new Map<string, Row>();
  for (const [name, series] of record.series) {
    const axis = series.appendOnly ? secondsAxis : stepAxis;
    for (const { step, time, value } of series.unsent) {
      const key = `${time} ${axis} ${step}`;
      const row = rows.get(key) ?? { axis, step, time, values: [] };
      rows.set(key, row);
      row.values.push([shownName(name), value]);
    }
  }
  return [...rows.values()].sort((a, b) => a.time - b.time || a.step - b.step);
}

const rowRecord = (index: number, { axis, step, time, values }: Row, started: number): WandbRecord =>
  historyRecord(index, [
    ['_step', index],
    ['_timestamp', time / 1000],
    ['_runtime', Math.max(0, time - started) / 1000],
    [axis, step],
    ...values,
  ]);

/** Names that W&B, or this export, takes for itself are below `own`. */
const shownName = (name: string): string =>
  name.startsWith('_') || name.startsWith('trainyard/') ? `own/${name}` : name;

/** Finds out which points the file has. False where one of them no longer stands. */
function match(folder: RunFolder, record: RunRecord): boolean {
  for (const [name, series] of record.series) {
    if (series.isMatched) continue;
    if (!series.match(folder.values.get(shownName(name)) ?? nothing)) return false;
  }
  return true;
}

const nothing: ReadonlyMap<number, number> = new Map();

/** Last values, and how the run stands. */
function summaryOf(facts: RunFacts, { series }: RunRecord): [string[], string | number][] {
  const last: [string[], string | number][] = [];
  for (const [name, { points }] of series) {
    const point = points.at(-1);
    if (point) last.push([[shownName(name)], point.value]);
  }
  const state = Object.entries(facts.state).map(([name, value]): [string[], string] => [
    [`trainyard/${name}`],
    value,
  ]);
  return [...last, ...state, [['_wandb', 'runtime'], secondsOf(facts)]];
}

/** Whole seconds that the run took; 0 while it goes on. */
const secondsOf = ({ started, ended }: RunFacts): number =>
  ended === undefined ? 0 : Math.max(0, Math.round((ended - started) / 1000));

/** 255 is what W&B itself writes of a run that was interrupted by its user. */
const exitCodeOf = (status: RunStatus): number =>
  status === 'finished' ? 0 : status === 'stopped' ? 255 : 1;

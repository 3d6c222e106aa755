// From a run's model to what its page lacks.
import type { Cursor } from '../../core/streams/slices.js';
import type { RunFeed } from '../../core/follow/runFeed.js';
import { earlyStopText } from '../../core/model/earlyStop.js';
import { resumedStep } from '../../core/model/generations.js';
import type { FigureCursor, FigureSeries } from '../../core/model/series/figureSeries.js';
import type { RunModel } from '../../core/model/runModel.js';
import { basename } from '../../core/base/nodePath.js';
import { gpuHoursOf, gpuHoursText } from '../../core/cost/gpuHours.js';
import { firstStarted, heldSeconds, pausesOf } from '../../core/cost/heldTime.js';
import { costOf, moneyText } from '../../core/cost/runCost.js';
import { hasOldFigures } from '../../core/model/runHealth.js';
import { isOver, reasonOf } from '../../core/model/runStatus.js';
import { slowRanksReason } from '../../core/model/hosts/slowRanks.js';
import { startsBy } from '../../core/model/starts.js';
import { spendingOf, spendingText } from '../../core/model/spending.js';
import type {
  DashboardUpdate,
  HostColumns,
  Progress,
  RankColumns,
  RunHead,
  Slice,
} from '../../webview/protocol.js';
import { runName, shortName } from '../../core/model/runName.js';
import { plural, epochUnderWay } from '../figureText.js';
import { placeOf } from './runPlace.js';

/** What a page holds. A new one holds nothing, so its first update is a full one. */
export class DashboardSender {
  private sequence = 0;
  private steps: Cursor | undefined;
  private evaluations: Cursor | undefined;
  private marks: Cursor | undefined;
  private readonly figures = new Map<FigureSeries, FigureCursor>();
  private readonly hosts = new Map<string, Cursor>();
  /** With the words on why others wait for it. */
  private readonly ranks = new Map<number, { cursor: Cursor; words: string }>();
  private log = 0;
  private resets: number | undefined;

  constructor(private readonly profile: string) {}

  /** The next update; what it carries counts as held from then on. */
  next(feed: Pick<RunFeed, 'model' | 'dir' | 'connection'>, now: number): DashboardUpdate {
    const { model } = feed;
    const full = model.resets !== this.resets;
    if (full) this.forget();
    this.resets = model.resets;
    const head = headOf(model, feed.dir, this.profile);
    const update: DashboardUpdate = {
      type: 'update',
      full,
      sequence: ++this.sequence,
      now,
      connection: feed.connection,
      head,
      progress: progressOf(model, head.health.hasOldFigures),
      checkpoints: checkpointsOf(model),
      steps: model.steps.slice(this.steps),
      evaluations: model.metrics.evaluations.slice(this.evaluations),
      figures: this.figureSlices(model),
      marks: model.marks.slice(this.marks),
      hosts: this.hostSlices(model),
      ranks: this.rankSlices(model),
      log: { from: this.log, rows: model.log.since(this.log) },
    };
    this.steps = model.steps.cursor();
    this.evaluations = model.metrics.evaluations.cursor();
    this.marks = model.marks.cursor();
    this.log = model.log.end;
    return update;
  }

  private forget(): void {
    this.steps = this.evaluations = this.marks = undefined;
    this.figures.clear();
    this.hosts.clear();
    this.ranks.clear();
    this.log = 0;
  }

  private figureSlices(model: RunModel): DashboardUpdate['figures'] {
    return model.figures.all.flatMap(({ tag, writer, series }) => {
      const held = this.figures.get(series);
      if (held !== undefined && series.holds(held)) return [];
      const { from, rows } = series.slice(held);
      this.figures.set(series, series.cursor());
      return [{ from, rows: { tag, writer, ...rows } }];
    });
  }

  private rankSlices(model: RunModel): Slice<RankColumns>[] {
    const slow = isOver(model.status) ? () => '' : slowWords(model);
    return [...model.ranks].flatMap(([rank, table]) => {
      const words = slow(rank);
      const held = this.ranks.get(rank);
      const slice = table.slice(held?.words === words ? held.cursor : undefined);
      this.ranks.set(rank, { cursor: table.cursor(), words });
      return slice ? [{ from: slice.from, rows: { ...slice.rows, slow: words } }] : [];
    });
  }

  private hostSlices(model: RunModel): Slice<HostColumns>[] {
    const { dir = '', state = null } = model.details ?? {};
    const ranks = new Set(state?.ranks.map(({ pid }) => pid));
    // Of a run that is over these are figures of the past: nobody is beside it any more.
    const over = isOver(model.status);
    const isOurs = (pid: number, run: string | null): boolean =>
      over || ranks.has(pid) || (run !== null && run === basename(dir));
    const slices: Slice<HostColumns>[] = [];
    for (const [host, table] of model.hosts) {
      const slice = table.slice(this.hosts.get(host));
      this.hosts.set(host, table.cursor());
      if (!slice) continue;
      const gpus = slice.rows.gpus.map((gpu) => ({
        ...gpu,
        processes: gpu.processes.map(({ pid, memory, run }) => ({ pid, memory, ours: isOurs(pid, run) })),
      }));
      slices.push({ from: slice.from, rows: { ...slice.rows, gpus } });
    }
    return slices;
  }
}

/** Of each rank that is slow now, what makes it so. */
function slowWords({ metrics }: RunModel): (rank: number) => string {
  const slow = metrics.slowRanks.now;
  const words = slow ? `slow: ${slowRanksReason(slow)}` : '';
  return (rank) => (slow?.ranks.includes(rank) === true ? words : '');
}

function headOf(model: RunModel, dir: string, profile: string): RunHead {
  const { details, status } = model;
  const { start } = model.metrics;
  const run = details?.run;
  const state = details?.state;
  const id = details?.id ?? dir.slice(dir.lastIndexOf('/') + 1);
  const place = placeOf(details);
  return {
    id,
    name: runName({ id, about: details?.about }),
    tags: details?.about?.tags ?? [],
    notes: details?.about?.notes ?? '',
    dir,
    profile,
    where: run ? `${place}, ${plural(run.ranks, 'rank')}` : place,
    status,
    over: isOver(status),
    reason:
      details === undefined ? null : (reasonOf(details) ?? earlyStopText(details.run, model.metrics) ?? null),
    ...restartsOf(model),
    maxRestarts: run?.limits.maxRestarts ?? null,
    health: healthLine(model),
    program: run?.program ?? null,
    command: run?.argv.join(' ') ?? '',
    model: start?.model ?? null,
    parameters: start?.parameters ?? null,
    device: start?.device ?? run?.device?.used ?? null,
    deviceWhy: run?.device?.asked === 'auto' ? run.device.why : null,
    precision: start?.precision ?? null,
    world: start?.world ?? state?.world ?? null,
    globalBatch: start?.global_batch ?? null,
    started: firstStartOf(model),
    pauses: state ? pausesOf(run ?? null, state) : [],
    ended: state?.ended ?? null,
    took: tookOf(model),
    from: run?.from ? { name: shortName(basename(run.from.dir)), step: run.from.step } : null,
    resumedFrom: start?.resumed_from ? (resumedStep(start) ?? null) : null,
  };
}

function restartsOf({ details }: RunModel): Pick<RunHead, 'restarts' | 'restartsInAll'> {
  const { restarts, sinceResume } = startsBy(details?.run ?? null, details?.state ?? null);
  return { restarts: sinceResume, restartsInAll: restarts };
}

/** Zero of the time axis: the run may have been resumed. */
function firstStartOf({ details, metrics }: RunModel): number | null {
  const { run = null, state } = details ?? {};
  if (!state) return metrics.firstStart ?? null;
  return Math.min(firstStarted(run, state), metrics.firstStart ?? Infinity);
}

function tookOf({ details, status }: RunModel): RunHead['took'] {
  const { run = null, state } = details ?? {};
  if (!state) return null;
  const goesOn = !isOver(status) && state.ended === null;
  return { seconds: heldSeconds(run, state), until: goesOn ? state.updated : null };
}

function healthLine({ health }: RunModel): RunHead['health'] {
  if (!health) return { level: 'note', text: '', hasOldFigures: false };
  return { level: health.level, text: health.text, hasOldFigures: hasOldFigures(health) };
}

function progressOf(model: RunModel, isOld: boolean): Progress {
  const { lastStep, best, secondsLeft } = model.metrics;
  const { step, totalSteps, epoch, totalEpochs, fraction } = model.metrics.progress;
  const over = isOver(model.status);
  const { figures } = model;
  const median = model.steps.medianImagesPerSec() ?? figures.rates()?.median;
  return {
    step: step ?? figures.step ?? null,
    totalSteps: totalSteps ?? null,
    epoch: epoch === undefined || totalEpochs === undefined ? null : epochUnderWay(epoch, totalEpochs),
    totalEpochs: totalEpochs === undefined ? null : Math.ceil(totalEpochs),
    fraction: fraction ?? null,
    imagesPerSec: over ? null : (lastStep?.images_per_sec ?? figures.imagesPerSec ?? null),
    medianImagesPerSec: median ?? null,
    rateWriters: lastStep ? 1 : Math.max(1, figures.rateWriters),
    // A run whose figures are old does not go on at their rate.
    secondsLeft: over || isOld ? null : (secondsLeft ?? null),
    bestTop1: best?.top1 ?? null,
    bestStep: best?.step ?? null,
    trainingTop1: best ? null : (lastStep?.top1 ?? null),
    cost: priceOf(model, over),
    gpuHours: hoursOf(model),
  };
}

function priceOf({ details, metrics }: RunModel, over: boolean): Progress['cost'] {
  const { progress, secondsLeft, secondsPerStep } = metrics;
  const pace = { ...progress, over, secondsLeft, secondsPerStep };
  const cost = costOf(details?.run ?? null, details?.state ?? null, pace);
  if (!cost) return null;
  const spending = spendingOf(details?.run ?? null, details?.state ?? null, metrics);
  const text = (amount: number | undefined): string | null =>
    over || amount === undefined ? null : moneyText(amount, cost.currency);
  return {
    soFar: moneyText(cost.soFar, cost.currency),
    atEnd: text(cost.atEnd),
    perEpoch: text(cost.perEpoch),
    spent: spending ? spendingText(spending) : '',
  };
}

function hoursOf({ details }: RunModel): string | null {
  const hours = gpuHoursOf(details?.run ?? null, details?.state ?? null);
  return hours === undefined ? null : gpuHoursText(hours);
}

function checkpointsOf({ metrics }: RunModel): DashboardUpdate['checkpoints'] {
  const { checkpoints, best } = metrics;
  return {
    count: checkpoints.count,
    latestStep: checkpoints.latest?.step ?? null,
    latestTime: checkpoints.latest?.time ?? null,
    bestStep: best?.step ?? null,
  };
}

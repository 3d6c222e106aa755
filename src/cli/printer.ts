// How a followed run appears: for a person, aligned lines; for a program, one JSON object a line.
import { durationText } from '../core/base/duration.js';
import { gpuHoursText } from '../core/cost/gpuHours.js';
import { moneyText } from '../core/cost/runCost.js';
import type { QueueStand } from '../core/contracts/agentApi.js';
import type { FigureLine } from '../core/contracts/figureSchema.js';
import { FigureReports } from './figureReports.js';
import type { FollowedLine } from '../core/follow/run.js';
import { eventText, failed, gapText } from '../core/model/marks.js';
import { plural } from '../core/base/plural.js';
import type {
  CodeRecord,
  DeviceChoice,
  EnvironmentRecord,
  RunEvent,
  RunFile,
} from '../core/contracts/runSchema.js';
import { flagValue } from '../core/plan/request/flagValue.js';
import { ReturnedNodes } from '../core/model/returnedNodes.js';
import type { RunSummary } from '../core/model/runSummary.js';
import type {
  CheckpointLine,
  EvalLine,
  Metric,
  ServerFigures,
  StartLine,
  StepLine,
} from '../core/contracts/metricsSchema.js';
import { accuracyText, bytesText, percentText, rateText } from './format.js';
import type { Output } from './output.js';
import type { NodePath } from '../core/base/nodePath.js';

export interface RunPrinter {
  run(id: string, dir: NodePath, run: RunFile | null): void;
  metric(line: FollowedLine<Metric>): void;
  event(line: FollowedLine<RunEvent>): void;
  figure(line: FigureLine, offset: number): void;
  tensorboard(url: string): void;
  /** Each change of how the run's job stands in the queue of Slurm. */
  queue(stand: QueueStand): void;
  /** Each change of what a run in a queue of its nodes waits for. */
  waiting(text: string): void;
  summary(summary: RunSummary): void;
}

/** Every line as it stands in the file. */
export class JsonPrinter implements RunPrinter {
  constructor(private readonly output: Output) {}

  run(id: string, dir: NodePath, run: RunFile | null): void {
    this.output.json({ type: 'run', id, dir, run });
  }

  metric({ offset, raw }: FollowedLine<Metric>): void {
    this.output.json({ type: 'metric', offset, line: raw });
  }

  event({ offset, raw }: FollowedLine<RunEvent>): void {
    this.output.json({ type: 'event', offset, line: raw });
  }

  figure(line: FigureLine, offset: number): void {
    this.output.json({ type: 'figure', offset, line });
  }

  tensorboard(url: string): void {
    this.output.json({ type: 'tensorboard', url });
  }

  queue(stand: QueueStand): void {
    this.output.json({ type: 'queue', ...stand });
  }

  waiting(text: string): void {
    this.output.json({ type: 'waiting', text });
  }

  summary(summary: RunSummary): void {
    this.output.json({ type: 'summary', ...summary });
  }
}

const columns = [
  ['step', 8],
  ['epoch', 8],
  ['loss', 9],
  ['top-1', 7],
  ['lr', 9],
  ['images/s', 10],
  ['ms/step', 9],
  ['comm', 7],
  ['input', 7],
] as const;

const cells = (texts: readonly string[]): string =>
  texts.map((text, column) => text.padStart(columns[column]?.[1] ?? 0)).join(' ');
/** Notes stand where the figures begin. */
const indent = ' '.repeat(10);
/** As it could be typed again. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const figure = (value: number | null, digits: number): string =>
  value === null ? '-' : value.toFixed(digits);

/** What a rank computes of a step: `32`, or `2 micro-batches of 32`. */
const microBatches = ({ batch_size, accumulate = 1 }: StartLine): string =>
  accumulate === 1 ? String(batch_size) : `${accumulate} micro-batches of ${batch_size}`;

/**
 * "2, busiest 31% busy (rank 4 on gpu1), gradients 2.6 updates old": a busiest of near 100% holds
 * the workers up.
 */
function serversText(servers: readonly ServerFigures[]): string {
  const busiest = servers.reduce<ServerFigures | undefined>(
    (a, b) => (a && a.busy >= b.busy ? a : b),
    undefined,
  );
  if (!busiest) return '0';
  const updates = servers.reduce((sum, server) => sum + server.updates, 0);
  const stale = servers.reduce((sum, server) => sum + server.staleness * server.updates, 0);
  const age = stale > 0 ? `, gradients ${(stale / updates).toFixed(1)} updates old` : '';
  return `${servers.length}, busiest ${percentText(busiest.busy)} busy (rank ${busiest.rank} on ${busiest.host})${age}`;
}

/** `cpu (auto: no GPU on gpu1)`. */
const deviceText = ({ asked, used, why }: DeviceChoice): string =>
  `${used} (${asked === 'auto' ? 'auto: ' : ''}${why})`;

/** Where it says why it ended. */
const seeEvaluator = (id: string): string => `see: trainyard logs ${id} --source eval`;

/** Compute threads of each rank: those that the trainer was given, else those that it finds. */
function threadsOf({ program, argv, threadsPerRank }: RunFile): number {
  const given = program === 'trainer' ? Number(flagValue(argv, '--threads')) : NaN;
  return given > 0 ? given : threadsPerRank;
}

export class TablePrinter implements RunPrinter {
  private headed = false;
  private id = 'last';
  private readonly returned = new ReturnedNodes();
  private readonly reports = new FigureReports((text) => {
    this.note(text);
  });

  constructor(private readonly output: Output) {}

  run(id: string, dir: NodePath, run: RunFile | null): void {
    const { output } = this;
    this.id = id;
    if (run?.device) output.line(`device  ${deviceText(run.device)}`);
    output.line(`run     ${id}`);
    output.line(`folder  ${dir}`);
    if (!run) return;
    const ranks = `${run.ranks} ${run.ranks === 1 ? 'rank' : 'ranks'}`;
    const count = threadsOf(run);
    const threads = `${count} ${count === 1 ? 'thread' : 'threads'} each`;
    output.line(`ranks   ${ranks}, ${threads}, profile ${run.profile.name}`);
    if (run.code) output.line(`code    ${codeText(run.code)}`);
    if (run.environment) output.line(`python  ${environmentText(run.environment)}`);
    output.line(`runs    ${run.argv.map(quoted).join(' ')}`);
  }

  metric({ value }: FollowedLine<Metric>): void {
    if (!value) return;
    switch (value.kind) {
      case 'start':
        this.start(value);
        break;
      case 'step':
        this.step(value);
        break;
      case 'eval':
        this.evaluation(value);
        break;
      case 'checkpoint':
        this.note(checkpointText(value));
        break;
      case 'checkpoint_failed':
        this.note(`checkpoint step ${value.step} failed: ${value.message}`);
        break;
      case 'checkpoint_passed_over':
        this.note(`the checkpoint of step ${value.step} was passed over: ${value.reason}`);
        break;
      case 'bad_image':
        this.note(`bad image ${value.path}: ${value.message} (${value.count} so far)`);
        break;
      case 'gap':
        this.note(gapText(value, 'metrics'));
        break;
      case 'end':
        this.note(`${value.reason} at step ${value.step} after ${durationText(value.seconds)}`);
        break;
      case 'host':
        break;
    }
  }

  event({ value }: FollowedLine<RunEvent>): void {
    if (!value) return;
    const returned = this.returned.add(value);
    if (returned !== undefined) this.note(returned);
    switch (value.kind) {
      case 'rank_exited':
        if (failed(value)) this.note(eventText(value));
        break;
      case 'stop_requested':
        this.note(`stop (${value.mode}) requested by ${value.by}`);
        break;
      case 'evaluator_exited':
        if (value.exit_code !== 0) this.note(`${eventText(value)}; ${seeEvaluator(this.id)}`);
        break;
      case 'disk_low':
        this.note(`the disk is nearly full: ${bytesText(value.free_bytes)} free`);
        break;
      case 'debugger_waiting':
        this.note(`${eventText(value)}: trainyard debug ${this.id}`);
        break;
      case 'tensorboard_exited':
        this.note('TensorBoard ended');
        break;
      case 'hang':
      case 'stalled':
      case 'moving':
      case 'gap':
      case 'node_lost':
      case 'waiting_for_nodes':
      case 'nodes_replaced':
      case 'mirror_failed':
      case 'head_changed':
      case 'sharing':
      case 'shared':
      case 'restarting':
      case 'budget_low':
      case 'budget_spent':
      case 'figures_damaged':
      case 'figures_passed_over':
      case 'figures_limited':
      case 'figures_delayed':
      case 'notify_failed':
        this.note(eventText(value));
        break;
      case 'node_joined':
      case 'mirrored':
      case 'created':
      case 'started':
      case 'rank_started':
      case 'checkpoint':
      case 'checkpoint_failed':
      case 'checkpoint_passed_over':
      case 'evaluator_started':
      case 'tensorboard_started':
      case 'finished':
        break;
    }
  }

  figure(line: FigureLine): void {
    this.reports.add(line);
  }

  tensorboard(url: string): void {
    this.output.line(`TensorBoard  ${url}`);
  }

  /** What is said of a job that is over names Slurm itself. */
  queue({ kind, job, text }: QueueStand): void {
    const before = { waiting: `in the queue of Slurm as job ${job}: `, running: 'Slurm: ', ended: '' };
    this.output.line(`${before[kind]}${text}`);
  }

  waiting(text: string): void {
    this.output.line(text);
  }

  summary(summary: RunSummary): void {
    const { output } = this;
    const row = (name: string, text: string): void => {
      output.line(`${name.padEnd(12)} ${text}`);
    };
    this.reports.flush();
    const evaluated = summary.best_top1 !== null && summary.top1 !== null;
    output.line('');
    row('run', `${summary.id} ${summary.phase}`);
    if (summary.reason !== null) row('reason', summary.reason);
    if (summary.images_per_sec !== null) {
      const median = summary.median_images_per_sec;
      const writers = summary.images_per_sec_writers;
      const sum = writers > 1 ? `, sum of ${writers} writers` : '';
      row(
        'images/s',
        `${rateText(summary.images_per_sec)}${median === null ? '' : `, median ${rateText(median)}`}${sum}`,
      );
    }
    if (summary.seconds !== null) row('time', durationText(summary.seconds));
    if (summary.cost) row('cost', moneyText(summary.cost.amount, summary.cost.currency));
    if (summary.gpu_hours !== null) row('GPU hours', gpuHoursText(summary.gpu_hours));
    if (evaluated) {
      row(
        'top-1',
        `${percentText(summary.best_top1 ?? 0)} best, ${percentText(summary.top1 ?? 0)} last (evaluation)`,
      );
    } else if (summary.train_top1 !== null) row('top-1', `${percentText(summary.train_top1)} (training)`);
    if (summary.loss_lost_since !== null) {
      row('loss', `NaN or infinite since step ${summary.loss_lost_since}`);
    }
    if (summary.evaluator !== null) row('evaluator', `${summary.evaluator}; ${seeEvaluator(summary.id)}`);
    if (summary.servers !== null) row('servers', serversText(summary.servers));
    row('checkpoints', String(summary.checkpoints));
    row('folder', summary.dir);
  }

  private start(line: StartLine): void {
    const resumed = line.resumed_from === null ? '' : `, resumed from ${line.resumed_from}`;
    this.output.line('');
    this.output.line(
      `${line.model}, ${line.parameters.toLocaleString('en-US')} parameters, ${line.classes} classes, ` +
        `${line.train_images} images; batch ${line.global_batch} (${line.world} x ${microBatches(line)}), ` +
        (line.servers ? `${line.servers} ${line.servers === 1 ? 'server' : 'servers'}, ` : '') +
        `${line.total_steps} steps, ${line.precision} on ${line.device}${resumed}`,
    );
  }

  private step(line: StepLine): void {
    if (!this.headed) this.output.line(cells(columns.map(([name]) => name)));
    this.headed = true;
    this.output.line(
      cells([
        String(line.step),
        line.epoch.toFixed(2),
        figure(line.loss, 4),
        line.top1 === null ? '-' : percentText(line.top1),
        line.lr.toPrecision(3),
        rateText(line.images_per_sec),
        line.step_ms.toFixed(1),
        line.comm_ms.toFixed(1),
        line.input_wait_ms.toFixed(1),
      ]),
    );
  }

  private evaluation(line: EvalLine): void {
    this.note(
      `eval of step ${line.step}: ${accuracyText(line)}, ` +
        `loss ${figure(line.loss, 4)} on ${line.images} images in ${durationText(line.seconds)}`,
    );
  }

  private note(text: string): void {
    this.output.line(`${indent}${text}`);
  }
}

function codeText({ files, bytes, folder, commit, changed }: CodeRecord): string {
  const size = `${files} ${files === 1 ? 'file' : 'files'} (${(bytes / 1e6).toFixed(1)} MB) of ${folder}`;
  if (commit === null) return size;
  return `${size}, commit ${commit.slice(0, 12)}${changed === true ? ' with changes' : ''}`;
}

function environmentText({ python, packages, requirements }: EnvironmentRecord): string {
  return `${python}, ${plural(packages.length, 'package')} of ${requirements}`;
}

function checkpointText({ step, bytes, write_ms, held_ms }: CheckpointLine): string {
  const waited = held_ms === undefined ? '' : `, training waited ${held_ms.toFixed(0)} ms`;
  return `checkpoint step ${step}: ${bytesText(bytes)} in ${write_ms.toFixed(0)} ms${waited}`;
}

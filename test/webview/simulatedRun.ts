// A simulated run, told by the dashboard's protocol: curves of the shapes that real runs have.
// Nothing here was measured.
import { emptySteps } from '../../src/webview/dashboard/model/columns.js';
import type {
  DashboardUpdate,
  Evaluation,
  FigureSeries,
  HostColumns,
  LogLine,
  Mark,
  RankColumns,
  RunHead,
  StatusWord,
  StepColumns,
} from '../../src/webview/protocol.js';
import { randomFrom, type SimulatedOptions } from './simulatedOptions.js';

export class SimulatedRun {
  status: StatusWord = 'running';
  over = false;
  reason: string | null = null;
  connection: DashboardUpdate['connection'];
  now: number;
  readonly steps = emptySteps();
  readonly evaluations: Evaluation[] = [];
  readonly figures: FigureSeries[] = [];
  readonly marks: Mark[] = [];
  readonly hosts: HostColumns[];
  readonly ranks: RankColumns[];
  readonly log: LogLine[] = [];
  private readonly sentFigures = new Map<FigureSeries, number>();
  private sequence = 0;
  private step = 0;
  private stepTime: number;
  private sampleTime: number;
  private generation = 1;
  from: RunHead['from'] = null;
  resumedFrom: number | null = null;
  cost: DashboardUpdate['progress']['cost'] = null;
  health: RunHead['health'] = { level: 'good', text: 'healthy', hasOldFigures: false };
  /** Between its starts. */
  private readonly pauses: { from: number; to: number }[] = [];
  private drift = 0;
  private lossNoise = 0;
  private readonly random = randomFrom(7);
  private sent = { steps: 0, evaluations: 0, marks: 0, log: 0, samples: 0 };

  /** `rowEvery`: steps for a row, as in a long run. */
  constructor(
    readonly options: SimulatedOptions,
    readonly started: number,
    private readonly rowEvery = 1,
    private readonly sampleEvery = 1,
  ) {
    this.now = this.stepTime = this.sampleTime = started;
    this.connection = { state: 'connected', since: started };
    this.hosts = Array.from({ length: options.hosts }, (_, host) => this.newHost(host));
    this.ranks = Array.from({ length: Math.min(options.ranks, 16) }, (_, rank) => ({
      rank,
      host: this.hosts[Math.floor(rank / Math.max(1, options.gpusPerHost)) % options.hosts]?.host ?? '',
      device: options.gpusPerHost > 0 ? `cuda:${rank % options.gpusPerHost}` : 'cpu',
      time: [],
      used: [],
      peak: 0,
      times: null,
      slow: '',
    }));
    this.mark('start', null, `started with ${options.ranks} ranks`);
  }

  /** Lets time pass. */
  run(seconds: number): void {
    const end = this.now + seconds;
    const trains = this.options.model !== null;
    while (trains && !this.over && this.stepTime + this.options.secondsPerStep <= end) this.takeStep();
    while (!this.over && this.sampleTime + this.sampleEvery <= end) this.takeSample();
    this.now = end;
    if (this.connection.state === 'connected') this.connection.since = end;
  }

  end(status: StatusWord, reason: string | null): void {
    this.status = status;
    this.over = true;
    this.reason = reason;
    this.mark('end', this.step || null, reason === null ? status : `${status}: ${reason}`);
    this.say(
      'journal',
      status === 'failed' ? 'error' : 'info',
      reason === null ? status : `${status}: ${reason}`,
    );
  }

  /** Somebody resumes the run, so many seconds after it was over. */
  resume(pause: number): void {
    this.status = 'running';
    this.over = false;
    this.reason = null;
    this.pauses.push({ from: this.now, to: this.now + pause });
    this.now = this.stepTime = this.sampleTime = this.now + pause;
    this.resumedFrom = this.step;
    this.mark('resume', null, `resumed with ${this.options.ranks} ranks`);
  }

  full(): DashboardUpdate {
    this.sent = { steps: 0, evaluations: 0, marks: 0, log: 0, samples: 0 };
    return this.message(true);
  }

  update(): DashboardUpdate {
    return this.message(false);
  }

  get lastStep(): number {
    return this.steps.step.at(-1) ?? 0;
  }

  say(source: string, level: LogLine['level'], text: string): void {
    this.log.push({ serial: this.log.length, time: this.now, source, level, text });
  }

  mark(kind: Mark['kind'], step: number | null, text: string): void {
    this.marks.push({ time: Math.max(this.now, this.stepTime), step, kind, text });
    if (kind !== 'end') this.say('journal', kind === 'rank-lost' ? 'error' : 'info', text);
  }

  /** A figure of an own program, now. */
  report(tag: string, writer: string, step: number, value: number): void {
    let series = this.figures.find((one) => one.tag === tag && one.writer === writer);
    if (!series) {
      series = { tag, writer, step: [], time: [], value: [], min: [], max: [] };
      this.figures.push(series);
    }
    series.step.push(step);
    series.time.push(this.now);
    for (const column of [series.value, series.min, series.max]) column.push(value);
  }

  private figureUpdates(full: boolean): DashboardUpdate['figures'] {
    return this.figures.flatMap((series) => {
      const from = full ? 0 : (this.sentFigures.get(series) ?? 0);
      this.sentFigures.set(series, series.step.length);
      if (from === series.step.length) return [];
      const { tag, writer } = series;
      const [step, time] = [series.step.slice(from), series.time.slice(from)];
      const [value, min, max] = [series.value.slice(from), series.min.slice(from), series.max.slice(from)];
      return [{ from, rows: { tag, writer, step, time, value, min, max } }];
    });
  }

  private newHost(host: number): HostColumns {
    const { gpusPerHost } = this.options;
    return {
      host: gpusPerHost > 0 ? `gpu${host + 1}` : 'localhost',
      memoryTotal: gpusPerHost > 0 ? 1081e9 : 25.2e9,
      diskFree: 812e9,
      missing: '',
      time: [],
      cpuPercent: [],
      memoryUsed: [],
      gpus: Array.from({ length: gpusPerHost }, (_, index) => ({
        index,
        uuid: `GPU-${host}-${index}`,
        name: 'H100 80GB',
        memoryTotal: 85.5e9,
        used: [],
        utilization: [],
        temperature: 61 + index,
        power: 620 - 7 * index,
        processes: host === 0 && index === 2 ? [{ pid: 4121, memory: 2.1e9, ours: false }] : [],
        trouble: '',
      })),
    };
  }

  private takeStep(): void {
    const { options, random } = this;
    const step = ++this.step;
    const checkpoint = options.checkpointEvery > 0 && step % options.checkpointEvery === 0;
    const slow = checkpoint ? 1.3 : step % 173 < 2 ? 1.12 : 1;
    this.drift = this.drift * 0.97 + (random() - 0.5) * 0.012;
    const seconds = options.secondsPerStep * slow * (1 + this.drift + (random() - 0.5) * 0.02);
    this.stepTime += seconds;
    if (step === options.restartAt) this.restart();
    if (checkpoint) this.checkpoint(step);
    if (step % this.rowEvery !== 0) return;
    this.row(step, seconds);
    if (step % (this.rowEvery * 20) === 0) {
      this.now = Math.max(this.now, this.stepTime);
      this.say(
        'rank 0',
        'info',
        `step ${step} loss ${this.steps.loss.at(-1)?.toFixed(4) ?? ''} lr ${this.steps.lr.at(-1)?.toPrecision(3) ?? ''}`,
      );
    }
  }

  private restart(): void {
    this.now = this.stepTime;
    this.mark('rank-lost', this.step, 'rank 5 on gpu2 was killed by signal 9 (SIGKILL), last step 4300');
    this.say('rank 5', 'error', 'killed by signal 9');
    this.stepTime += 95;
    this.now = this.stepTime;
    this.generation = 2;
    this.mark('restart', this.step, `started again with ${this.options.ranks} ranks, restart 1`);
  }

  private checkpoint(step: number): void {
    this.now = Math.max(this.now, this.stepTime);
    this.mark('checkpoint', step, `checkpoint at step ${step}, 204.6 MB`);
    const { top1, loss } = this.quality(step);
    const evaluated = top1 - 0.02 + (this.random() - 0.5) * 0.012;
    this.evaluations.push({
      time: this.stepTime,
      step,
      top1: evaluated,
      top5: Math.min(0.998, 1 - (1 - evaluated) * 0.32),
      loss: loss * 1.04,
    });
    this.say('eval', 'info', `step ${step} top-1 ${(100 * evaluated).toFixed(2)}%`);
    if (step % (this.options.checkpointEvery * 4) === 0) {
      this.say('rank 1', 'warning', 'reading /data/train/n02089973/17.jpg took 1.4 s');
    }
  }

  private learningRate(step: number): number {
    const warm = Math.max(1, this.options.totalSteps * 0.02);
    if (step < warm) return (0.4 * step) / warm;
    return 0.2 * (1 + Math.cos((Math.PI * (step - warm)) / (this.options.totalSteps - warm)));
  }

  private quality(step: number): { loss: number; top1: number } {
    const done = step / this.options.totalSteps;
    const learnt = 1 - Math.exp(-done * 14) * 0.72 - 0.28 * Math.exp(-done * 2.2);
    return { loss: 0.62 + 6.1 * (1 - learnt) ** 1.25, top1: 0.81 * learnt ** 1.15 };
  }

  private row(step: number, seconds: number): void {
    const { options, random, steps } = this;
    const { loss, top1 } = this.quality(step);
    this.lossNoise = this.lossNoise * 0.6 + (random() - 0.5) * 0.09 * loss;
    const rate = (options.imagesPerSec * options.secondsPerStep) / seconds;
    const comm = seconds * 1000 * (options.ranks > 8 ? 0.19 : 0.11) * (0.92 + 0.16 * random());
    const values = loss + this.lossNoise;
    steps.step.push(step);
    steps.time.push(this.stepTime);
    steps.epoch.push(Math.floor(step / options.stepsPerEpoch));
    steps.loss.push(values);
    steps.lossMin.push(values - (this.rowEvery > 1 ? 0.05 * loss : 0));
    steps.lossMax.push(values + (this.rowEvery > 1 ? 0.06 * loss : 0));
    steps.top1.push(Math.max(0.001, top1 + (random() - 0.5) * 0.035));
    steps.lr.push(this.learningRate(step));
    steps.imagesPerSec.push(rate);
    steps.imagesPerSecMin.push(rate * (this.rowEvery > 1 ? 0.96 : 1));
    steps.imagesPerSecMax.push(rate * (this.rowEvery > 1 ? 1.02 : 1));
    steps.stepMs.push(seconds * 1000);
    steps.commMs.push(comm);
    steps.inputWaitMs.push(seconds * 1000 * (step % 173 < 2 ? 0.11 : 0.012) * (0.7 + 0.6 * random()));
  }

  private takeSample(): void {
    const { random } = this;
    this.sampleTime += this.sampleEvery;
    const warm = Math.min(1, (this.sampleTime - this.started) / 20);
    for (const [number, host] of this.hosts.entries()) {
      host.time.push(this.sampleTime);
      host.cpuPercent.push((host.gpus.length > 0 ? 31 : 93) * warm + 6 * random());
      host.memoryUsed.push(host.memoryTotal * (0.11 + 0.03 * warm));
      for (const gpu of host.gpus) {
        const lame = number === 11 && gpu.index === 3 ? 0.55 : 1;
        gpu.used.push(gpu.memoryTotal * (0.02 + 0.7 * warm));
        gpu.utilization.push(Math.min(100, Math.round((93 + 7 * random()) * warm * lame)));
      }
    }
    for (const rank of this.ranks) {
      const used = (this.options.gpusPerHost > 0 ? 58e9 : 612e6) * (0.6 + 0.4 * warm) * (1 + 0.01 * random());
      rank.time.push(this.sampleTime);
      rank.used.push(used);
      rank.peak = Math.max(rank.peak, used);
    }
  }

  private head(): RunHead {
    const { options } = this;
    const gpus = options.hosts * options.gpusPerHost;
    const isTrainer = options.model !== null;
    const stood = this.pauses.reduce((sum, { from, to }) => sum + to - from, 0);
    return {
      id: options.name,
      name: options.name,
      tags: options.tags,
      notes: options.notes,
      dir: `/home/me/runs/${options.name}`,
      profile: options.hosts > 1 ? 'lab' : 'local',
      where: gpus > 0 ? `${options.hosts} nodes, ${gpus} GPUs` : `this machine, ${options.ranks} ranks`,
      status: this.status,
      over: this.over,
      reason: this.reason,
      restarts: this.generation - 1,
      restartsInAll: this.generation - 1,
      maxRestarts: 3,
      health: this.health,
      program: isTrainer ? 'trainer' : 'command',
      command: options.command,
      model: options.model,
      parameters: isTrainer ? 25_557_032 : null,
      device: isTrainer ? (gpus > 0 ? 'cuda' : 'cpu') : null,
      deviceWhy: null,
      precision: isTrainer ? (gpus > 0 ? 'bf16' : 'fp32') : null,
      world: options.ranks,
      globalBatch: isTrainer ? 256 * options.ranks : null,
      started: this.started,
      pauses: this.pauses,
      ended: this.over ? this.now : null,
      took: { seconds: this.now - this.started - stood, until: this.over ? null : this.now },
      from: this.from,
      resumedFrom: this.resumedFrom,
    };
  }

  private message(full: boolean): DashboardUpdate {
    const { options, sent, steps, evaluations } = this;
    const last = steps.step.length - 1;
    const best = evaluations.reduce<Evaluation | null>((a, b) => (a && a.top1 >= b.top1 ? a : b), null);
    const sorted = steps.imagesPerSec.toSorted((a, b) => a - b);
    const checkpoints = this.marks.filter(({ kind }) => kind === 'checkpoint');
    const fraction = options.totalSteps > 0 && last >= 0 ? this.step / options.totalSteps : null;
    const message: DashboardUpdate = {
      type: 'update',
      full,
      sequence: this.sequence++,
      now: this.now,
      connection: { ...this.connection },
      head: this.head(),
      progress: {
        step: last >= 0 ? this.step : null,
        totalSteps: options.totalSteps || null,
        epoch: last >= 0 ? (steps.epoch[last] ?? null) : null,
        totalEpochs: options.totalSteps > 0 ? options.totalSteps / options.stepsPerEpoch : null,
        fraction,
        imagesPerSec: steps.imagesPerSec[last] ?? null,
        medianImagesPerSec: sorted[Math.floor(sorted.length / 2)] ?? null,
        rateWriters: 1,
        secondsLeft: this.over || last < 0 ? null : (options.totalSteps - this.step) * options.secondsPerStep,
        bestTop1: best?.top1 ?? null,
        bestStep: best?.step ?? null,
        trainingTop1: null,
        gpuHours: null,
        cost: this.cost,
      },
      checkpoints: {
        count: checkpoints.length,
        latestStep: checkpoints.at(-1)?.step ?? null,
        latestTime: checkpoints.at(-1)?.time ?? null,
        bestStep: best?.step ?? null,
      },
      steps: {
        from: sent.steps,
        rows: Object.fromEntries(
          Object.entries(steps).map(([name, column]) => [name, (column as number[]).slice(sent.steps)]),
        ) as unknown as StepColumns,
      },
      evaluations: { from: sent.evaluations, rows: evaluations.slice(sent.evaluations) },
      figures: this.figureUpdates(full),
      marks: { from: sent.marks, rows: this.marks.slice(sent.marks) },
      hosts: this.hosts
        .filter(({ time }) => full || time.length > sent.samples)
        .map((host) => ({ from: sent.samples, rows: hostFrom(host, sent.samples) })),
      ranks: this.ranks
        .filter(({ time }) => full || time.length > sent.samples)
        .map((rank) => ({
          from: sent.samples,
          rows: { ...rank, time: rank.time.slice(sent.samples), used: rank.used.slice(sent.samples) },
        })),
      log: { from: sent.log, rows: this.log.slice(sent.log) },
    };
    this.sent = {
      steps: steps.step.length,
      evaluations: evaluations.length,
      marks: this.marks.length,
      log: this.log.length,
      samples: this.hosts[0]?.time.length ?? 0,
    };
    return message;
  }
}

const hostFrom = (host: HostColumns, from: number): HostColumns => ({
  ...host,
  time: host.time.slice(from),
  cpuPercent: host.cpuPercent.slice(from),
  memoryUsed: host.memoryUsed.slice(from),
  gpus: host.gpus.map((gpu) => ({
    ...gpu,
    used: gpu.used.slice(from),
    utilization: gpu.utilization.slice(from),
  })),
});

// Measures how a training scales: short runs one after the other on a profile, each a point. They
// are ordinary runs, which show in lists; what each came to is handed on before the next one starts.
import { Cancelled, errorText, isCancelled, throwIfCancelled, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import type { Machine } from '../cluster/machine.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { StartLine, StepLine } from '../contracts/metricsSchema.js';
import type { Profile } from '../contracts/profileSchema.js';
import { pricePerHour } from '../cost/runCost.js';
import { statusOf } from '../model/runStatus.js';
import { commandLineOf } from '../plan/commandLine.js';
import { flagValue, trainerVerb, withoutFlag } from '../plan/flags.js';
import { requestOf, type Device } from '../plan/request.js';
import { allReduceMsOf, figuresOf } from '../scaling/fromLines.js';
import { sharedBatch, type PlannedPoint } from '../scaling/plan.js';
import type { ScalingStudy, StudyPoint } from '../scaling/study.js';
import { deleteRunFolders } from './deletion.js';
import { RunFollower } from './run.js';
import { outputFiles } from './runOutput.js';

/** What is measured, where, and who hears of it. */
export interface ScalingOptions extends Progress {
  machine: Machine;
  profile: Profile;
  /** Folder of this machine, against which paths are read. */
  cwd: string;
  points: readonly PlannedPoint[];
  /** Points that are there already are not measured again. */
  study: ScalingStudy;
  keepRuns: boolean;
  /** After each point, with all of them. */
  onStudy: (study: ScalingStudy) => Promise<void>;
  /** Each run as it starts. */
  onRun: (id: string) => Promise<void>;
  /** Of an error, in the words of a user interface. */
  words?: (error: unknown) => string;
  logger?: Logger;
}

/** How many times larger the batch is with which one replica is tried as well. */
const probeTimes = 4;
const tag = 'scaling';

/**
 * The study with all points that could be measured, those that failed, and those that were not
 * begun before `signal` ended it. Rejects only where the study cannot be handed on.
 */
export async function measureScaling(options: ScalingOptions): Promise<ScalingStudy> {
  const measurement = new Measurement(options);
  return measurement.run();
}

/** The training that is measured: flags that the measurement itself sets are left out. UserError. */
export function measuredWords(words: readonly string[]): string[] {
  if (trainerVerb(words) !== 'train') {
    throw new UserError(
      'usage',
      'only a training of the trainer can be measured',
      'Write train and its flags',
    );
  }
  const own = ['--steps', '--epochs', '--log-every', '--run-dir', '--checkpoint-every', '--eval-data'];
  return own.reduce((left, flag) => withoutFlag(left, flag), [...words]);
}

interface Started {
  details: RunDetails;
  device: Device | undefined;
  command: string;
  start: StartLine | undefined;
  steps: StepLine[];
  printed: string[];
}

class Measurement {
  private study: ScalingStudy;
  private cores: number | null = null;

  constructor(private readonly options: ScalingOptions) {
    this.study = { ...options.study, failed: [], missing: [] };
  }

  async run(): Promise<ScalingStudy> {
    const { points } = this.options;
    for (const [at, planned] of points.entries()) {
      if (this.pointOf(planned) && !this.lacksProbe(planned)) continue;
      const what = `${planned.mode} scaling, ${planned.replicas} of ${Math.max(...points.map(({ replicas }) => replicas))} replicas`;
      this.options.onProgress?.(`point ${at + 1} of ${points.length}: ${what}`);
      try {
        throwIfCancelled(this.options.signal);
        this.cores ??= (await this.options.machine.node.hello()).cores;
        const known = this.pointOf(planned);
        const point = known ?? (await this.measure(planned));
        if (!known) await this.hand({ points: [...this.study.points, point] });
        if (this.lacksProbe(planned)) await this.probe(point);
      } catch (error) {
        if (isCancelled(error)) {
          await this.hand({ missing: points.slice(at).filter((each) => !this.pointOf(each)) });
          return this.study;
        }
        const command = this.commandOf(this.wordsOf(planned, undefined), planned);
        const message = (this.options.words ?? errorText)(error);
        await this.hand({ failed: [...this.study.failed, { ...planned, message, command }] });
      }
    }
    return this.study;
  }

  private pointOf({ mode, replicas }: PlannedPoint): StudyPoint | undefined {
    return this.study.points.find((point) => point.mode === mode && point.replicas === replicas);
  }

  private lacksProbe({ mode, replicas }: PlannedPoint): boolean {
    return mode === 'weak' && replicas === 1 && this.study.probe === null;
  }

  private async hand(change: Partial<ScalingStudy>): Promise<void> {
    this.study = { ...this.study, ...change };
    await this.options.onStudy(this.study);
  }

  /** `batch` of one replica; left out, the one of the words. */
  private wordsOf({ replicas }: PlannedPoint, batch: number | undefined): string[] {
    const { words, steps } = this.study;
    const base =
      batch === undefined ? words : [...withoutFlag(words, '--batch-size'), '--batch-size', String(batch)];
    const threads =
      flagValue(words, '--threads') === undefined ? ['--threads', String(this.threads(replicas))] : [];
    return [...base, ...threads, '--steps', String(steps), '--log-every', '1'];
  }

  /** The same for all points: a replica that alone takes all cores would say nothing. */
  private threads(replicas: number): number {
    const { profile, points } = this.options;
    const most = Math.max(replicas, ...points.map((point) => point.replicas));
    const onHost = profile.hosts?.[0]?.slots ?? (profile.kind === 'local' ? most : 1);
    return Math.max(1, Math.floor((this.cores ?? 1) / Math.min(onHost, most)));
  }

  private commandOf(words: readonly string[], { mode, replicas }: PlannedPoint): string {
    return commandLineOf({
      profile: this.options.profile.name,
      words,
      ranks: replicas,
      name: `${mode} scaling ${replicas}`,
      tags: [tag],
      evaluator: false,
    });
  }

  private async measure(planned: PlannedPoint): Promise<StudyPoint> {
    const { mode, replicas } = planned;
    const first = this.firstWeak();
    if (mode === 'strong' && first?.replicas === replicas) return { ...first, mode };
    const base = this.batch(first);
    const least = first?.replicas ?? Math.min(...this.options.points.map((point) => point.replicas));
    const batch = mode === 'weak' || base === undefined ? undefined : sharedBatch(base, least, replicas);
    const words = this.wordsOf(planned, batch);
    const run = await this.follow(words, planned);
    const figures = figuresOf(run.start, run.steps);
    const record = run.details.run;
    const perHour = record ? (pricePerHour(record) ?? null) : null;
    this.study = {
      ...this.study,
      model: run.start?.model ?? this.study.model,
      device: run.start?.device ?? this.study.device,
      allReduce: run.start?.all_reduce ?? this.study.allReduce,
      currency: record?.price?.currency ?? this.study.currency,
    };
    const allReduceMs =
      replicas > 1 ? await this.allReduce(planned, figures.gradientBytes, run.device) : null;
    return {
      mode,
      replicas,
      hosts: record?.nodes?.length ?? 1,
      threads: Number(flagValue(words, '--threads') ?? 1),
      cores: run.start?.device === 'cuda' ? null : this.cores,
      ...figures,
      allReduceMs,
      perHour,
      run: run.details.id,
      command: run.command,
    };
  }

  /** Of a replica, in the words; where they do not say, as the first training told. */
  private batch(first: StudyPoint | undefined): number | undefined {
    const asked = flagValue(this.study.words, '--batch-size');
    return first?.batch ?? (asked === undefined ? undefined : Number(asked));
  }

  private firstWeak(): StudyPoint | undefined {
    const weak = this.study.points.filter(({ mode }) => mode === 'weak');
    return weak.reduce<StudyPoint | undefined>((a, b) => (a && a.replicas <= b.replicas ? a : b), undefined);
  }

  /** One replica with a larger batch: whether the batch is what holds it back. */
  private async probe(point: StudyPoint): Promise<void> {
    const batch = point.batch * probeTimes;
    this.options.onProgress?.(`one replica with a batch of ${batch}`);
    const planned = { mode: 'weak', replicas: 1 } as const;
    const words = this.wordsOf(planned, batch);
    try {
      const { start, steps, details, command } = await this.follow(words, planned);
      const { imagesPerSec } = figuresOf(start, steps);
      const probe = { batch, imagesPerSec: imagesPerSec.median, run: details.id, command };
      await this.hand({ probe });
    } catch (error) {
      if (isCancelled(error)) throw error;
      // A batch that does not fit tells nothing of the one that does.
      this.options.onProgress?.(`a batch of ${batch} was not measured: ${errorText(error)}`);
    }
  }

  private async allReduce(
    planned: PlannedPoint,
    bytes: number,
    device: Device | undefined,
  ): Promise<number | null> {
    const { words } = this.study;
    const kept = ['--allreduce', '--comm'].flatMap((flag) => {
      const value = flagValue(words, flag);
      return value === undefined ? [] : [flag, value];
    });
    const bench = ['bench', 'allreduce', '--bytes', String(bytes), '--seconds', '0.5', ...kept];
    this.options.onProgress?.(`an all-reduce alone, ${planned.replicas} replicas`);
    try {
      const { printed } = await this.follow(
        device === undefined ? bench : [...bench, '--device', device],
        planned,
      );
      return allReduceMsOf(printed, bytes);
    } catch (error) {
      if (isCancelled(error)) throw error;
      this.options.onProgress?.(`the all-reduce was not measured: ${errorText(error)}`);
      return null;
    }
  }

  /** Starts a run and stays until it is over. UserError (failed) where it failed, Cancelled. */
  private async follow(words: readonly string[], planned: PlannedPoint): Promise<Started> {
    const { machine, profile, cwd, signal, logger = nullLogger } = this.options;
    const asked = {
      words,
      ranks: planned.replicas,
      name: `${planned.mode} scaling ${planned.replicas}`,
      tags: [tag],
      evaluator: false,
    };
    const request = requestOf({ ...asked, profile, cwd });
    const started = await machine.start(request, signal === undefined ? {} : { signal });
    await this.options.onRun(started.id);
    let begun: StartLine | undefined;
    const steps: StepLine[] = [];
    const printed: string[] = [];
    const output = outputFiles((_, text) => printed.push(text));
    const follower = new RunFollower({
      dir: started.dir,
      client: () => machine.node.client(),
      logger,
      pollInterval: 250,
      extras: request.kind === 'train' ? () => [] : output,
    });
    follower.onMetric(({ value }) => {
      if (value?.kind === 'start') begun = value;
      if (value?.kind === 'step') steps.push(value);
    });
    const giveUp = (): void => {
      follower.dispose();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      throwIfCancelled(signal);
      const details = await follower.follow();
      const status = statusOf(details);
      if (status !== 'finished') throw failure(details, started.dir);
      if (!this.options.keepRuns) await deleteRunFolders(machine, profile, details);
      const command = commandLineOf({ ...asked, profile: profile.name });
      return { details, device: started.device, command, start: begun, steps, printed };
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      await machine.stop(started.dir, 'now');
      throw new Cancelled();
    } finally {
      signal?.removeEventListener('abort', giveUp);
      follower.dispose();
    }
  }
}

function failure({ id, state }: RunDetails, dir: NodePath): UserError {
  const why = state?.reason ?? 'it did not finish';
  return new UserError('failed', `run ${id} failed: ${why}`, `Its folder is ${dir}`);
}

// Measures how a training scales: short runs one after the other on a profile, each a point. They
// are ordinary runs, which show in lists; what each came to is handed on before the next one
// starts.
import { errorText, isCancelled, throwIfCancelled, UserError } from '../base/errors.js';
import { plural } from '../base/plural.js';
import type { Progress } from '../base/progress.js';
import { hasRanks } from '../contracts/slots.js';
import { pricePerHour } from '../cost/runCost.js';
import { scalingName, scalingTag } from '../model/measured.js';
import { flagValue } from '../plan/request/flagValue.js';
import { trainerVerb, withoutFlag } from '../plan/request/flags.js';
import type { Device } from '../plan/request/request.js';
import { allReduceMsOf, figuresOf } from '../scaling/fromLines.js';
import { sharedBatch, type PlannedPoint } from '../scaling/plan.js';
import type { ScalingStudy, StudyPoint } from '../scaling/study.js';
import { commandOf, shortRun, type AskedShortRun, type RunPlace, type ShortRun } from './shortRun.js';

/** What is measured, where, and who hears of it. */
export interface ScalingOptions extends RunPlace, Progress {
  points: readonly PlannedPoint[];
  /** Points that are there already are not measured again. */
  study: ScalingStudy;
  /** After each point, with all of them. */
  onStudy: (study: ScalingStudy) => Promise<void>;
  /** Of an error, in the words of a user interface. */
  words?: (error: unknown) => string;
}

/** How many times larger the batch is with which one replica is tried as well. */
const probeTimes = 4;

/**
 * The study with all points that could be measured, those that failed, and those that were not
 * begun before `signal` ended it. Rejects only where the study cannot be handed on.
 */
export async function measureScaling(options: ScalingOptions): Promise<ScalingStudy> {
  const measurement = new Measurement(options);
  return measurement.run();
}

/**
 * The training that is measured: flags that the measurement itself sets are left out. UserError.
 */
export function measuredWords(words: readonly string[]): string[] {
  if (trainerVerb(words) !== 'train') {
    throw new UserError(
      'usage',
      'only a training of the trainer can be measured',
      'Write train and its flags',
    );
  }
  const own = ['--steps', '--epochs', '--log-every', '--run-dir', '--checkpoint-every'];
  const evaluations = ['--eval-data', '--eval-on', '--early-stop'];
  return withoutFlag(words, ...own, ...evaluations);
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
      const what = `${planned.mode} scaling, ${planned.replicas} of ${plural(Math.max(...points.map(({ replicas }) => replicas)), 'replica')}`;
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
        const asked = this.asked(this.wordsOf(planned, undefined), planned);
        const command = commandOf(this.options.profile, asked);
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
    const onHost = profile.hosts?.find(hasRanks)?.slots ?? (profile.kind === 'local' ? most : 1);
    return Math.max(1, Math.floor((this.cores ?? 1) / Math.min(onHost, most)));
  }

  private asked(
    words: readonly string[],
    { mode, replicas }: PlannedPoint,
    what?: Parameters<typeof scalingName>[2],
  ): AskedShortRun {
    const report = { kind: 'scaling', begun: this.study.created } as const;
    return { words, ranks: replicas, name: scalingName(mode, replicas, what), tag: scalingTag, report };
  }

  private follow(
    words: readonly string[],
    planned: PlannedPoint,
    what?: Parameters<typeof scalingName>[2],
  ): Promise<ShortRun> {
    return shortRun(this.options, this.asked(words, planned, what));
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
    const figures = figuresOf(run.start, run.steps, run.hosts);
    const record = run.details.run;
    const nodes = record?.nodes?.filter(hasRanks);
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
      hosts: nodes?.length ?? 1,
      machines: await this.machines(nodes?.map(({ host }) => host) ?? []),
      threads: Number(flagValue(words, '--threads') ?? 1),
      cores: run.start?.device === 'cuda' ? null : this.cores,
      ...figures,
      allReduceMs,
      perHour,
      run: run.details.id,
      command: run.command,
    };
  }

  /**
   * Hosts that were booted as one are one machine. Undefined where not all of them can be asked.
   */
  private async machines(hosts: readonly string[]): Promise<number | undefined> {
    const nodes = this.options.machine.nodes.filter(({ name }) => hosts.includes(name));
    if (nodes.length === 0 || nodes.length < hosts.length) return undefined;
    const boots = await Promise.all(nodes.map(async ({ node }) => (await node.hello()).bootId));
    return new Set(boots).size;
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
      const { start, steps, details, command } = await this.follow(words, planned, `batch ${batch}`);
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
    this.options.onProgress?.(`an all-reduce alone, ${plural(planned.replicas, 'replica')}`);
    try {
      const { printed } = await this.follow(
        device === undefined ? bench : [...bench, '--device', device],
        planned,
        'all-reduce',
      );
      return allReduceMsOf(printed, bytes);
    } catch (error) {
      if (isCancelled(error)) throw error;
      this.options.onProgress?.(`the all-reduce was not measured: ${errorText(error)}`);
      return null;
    }
  }
}

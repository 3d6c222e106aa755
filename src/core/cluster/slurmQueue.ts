// What Slurm says of the jobs of runs: asked on the login node, not often, and only where a run is
// not over.
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Bootstrap } from '../setup/bootstrap.js';
import { parseSacct, parseScontrolJob, parseSqueue, sacctFields, squeueFormat } from '../slurm/queue.js';
import { endsToKeep, jobsToAsk, withStand, type KeptEnd, type QueueLook } from '../slurm/stand.js';

/** Milliseconds between two looks; fewer for a while after something was asked of Slurm. */
const usualPause = 15_000;
const eagerPause = 2_000;
const eagerFor = 60_000;
/** Milliseconds for which an old look serves where a new one fails. */
const staleFor = 300_000;

const answerSchema = z.object({
  mine: z.string(),
  waiting: z.string(),
  ended: z.array(z.string()),
  records: z.string(),
});

const nothingHeard: QueueLook = { queued: new Map(), ahead: new Map(), ended: new Map() };

/** What was seen of `jobs`, and when; `tried`: when Slurm was asked last. Milliseconds. */
interface Look {
  jobs: ReadonlySet<string>;
  at: number;
  tried: number;
  look: Promise<QueueLook>;
}

/** What a queue is asked through. */
export interface SlurmQueueOptions {
  withBootstrap: <T>(task: (bootstrap: Bootstrap) => Promise<T>) => Promise<T>;
  logger?: Logger | undefined;
}

/** From what Slurm's programs printed. */
function lookOf({ mine, waiting, ended, records }: z.infer<typeof answerSchema>): QueueLook {
  const queued = new Map(parseSqueue(mine).map((job) => [job.id, job]));
  const others = parseSqueue(waiting);
  const ahead = new Map<string, number>();
  for (const job of queued.values()) {
    const before = others.filter(
      ({ id, partition, priority }) =>
        id !== job.id &&
        partition === job.partition &&
        (priority > job.priority || (priority === job.priority && Number(id) < Number(job.id))),
    );
    if (others.some(({ id }) => id === job.id)) ahead.set(job.id, before.length);
  }
  const over = [...parseSacct(records), ...ended.flatMap((text) => parseScontrolJob(text) ?? [])];
  return { queued, ahead, ended: new Map(over.map((job) => [job.id, job])) };
}

/** The queue as it was seen last. */
export class SlurmQueue {
  private last: Look | undefined;
  /** The last look that nothing known before could stand in for. */
  private failure: Look | undefined;
  private eagerUntil = 0;
  /** Jobs whose end was given to the record of their run, once. */
  private readonly kept = new Set<string>();

  constructor(private readonly options: SlurmQueueOptions) {}

  /** After something was asked of Slurm: what was seen before no longer counts. */
  expectChange(): void {
    this.last = this.failure = undefined;
    this.eagerUntil = Date.now() + eagerFor;
  }

  /** Each run with its stand in the queue. UserError (connection) where Slurm gives no answer. */
  entries = async <E extends RunEntry>(entries: readonly E[]): Promise<E[]> => {
    const jobs = jobsToAsk(entries);
    const look = jobs.length === 0 ? nothingHeard : await this.look(jobs);
    await this.keep(endsToKeep(entries, look));
    return entries.map((entry) => withStand(entry, look));
  };

  /** Where it cannot be written, Slurm is asked again. */
  private async keep(all: readonly KeptEnd[]): Promise<void> {
    const ends = all.filter(({ job }) => !this.kept.has(job));
    if (ends.length === 0) return;
    for (const { job } of ends) this.kept.add(job);
    const { withBootstrap, logger = nullLogger } = this.options;
    try {
      await withBootstrap((bootstrap) => bootstrap.request('slurm-ended', { ends }, z.unknown()));
    } catch (error) {
      logger.log('warn', `why jobs of Slurm ended is not kept: ${String(error)}`);
    }
  }

  private look(jobs: readonly string[]): Promise<QueueLook> {
    const now = Date.now();
    const { last } = this;
    const pause = now < this.eagerUntil ? eagerPause : usualPause;
    const knows = last !== undefined && jobs.every((job) => last.jobs.has(job));
    if (knows && now - last.tried < pause) return last.look;
    const older = knows && now - last.at <= staleFor ? last : undefined;
    const { failure } = this;
    if (!older && failure && now - failure.at < pause && jobs.every((job) => failure.jobs.has(job))) {
      return failure.look;
    }
    const next: Look = {
      ...{ jobs: new Set(jobs), at: now, tried: now },
      look: this.ask(jobs).catch((error: unknown) => {
        if (!older) {
          if (this.last === next) this.last = last;
          this.failure = next;
          throw error;
        }
        this.options.logger?.log('warn', `Slurm was not heard: ${String(error)}`);
        next.at = older.at;
        next.jobs = older.jobs;
        return older.look;
      }),
    };
    this.last = next;
    return next.look;
  }

  private async ask(jobs: readonly string[]): Promise<QueueLook> {
    const { withBootstrap, logger = nullLogger } = this.options;
    const params = { jobs, format: squeueFormat, fields: sacctFields };
    try {
      const answer = await withBootstrap((bootstrap) =>
        bootstrap.request('slurm-queue', params, answerSchema),
      );
      return lookOf(answer);
    } catch (error) {
      logger.log('info', `slurm-queue: ${String(error)}`);
      // A run that cannot be asked about now may be asked about later.
      if (error instanceof UserError && error.code === 'preflight') {
        throw new UserError('connection', error.what, error.hint, { cause: error });
      }
      throw error;
    }
  }
}

// A sweep: the same program with other settings, an ordinary run for each. What a trial comes to is
// handed on before the next one starts, so that a sweep that was ended goes on.
import { AgentError } from '../agent/agentClient.js';
import type { NodePath } from '../base/nodePath.js';
import { Cancelled, errorText, isCancelled, throwIfCancelled } from '../base/errors.js';
import { sharedAbort } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { CompareReader } from '../follow/compareReader.js';
import { LostNodes } from '../follow/lostNodes.js';
import { RunFollower } from '../follow/run.js';
import { isOver, reasonOf, statusOf } from '../model/runStatus.js';
import { cleanLabel } from '../plan/request/flags.js';
import { requestOf, type RunRequest, type TypedRun } from '../plan/request/request.js';
import { mayTakePorts, onHost, TrialHosts, type TrialHost } from '../sweep/hosts.js';
import { metricValue } from '../sweep/metric.js';
import { assertPorts } from '../sweep/room.js';
import { isRunOf, isTried, trialTags, triedAgain, untried, type Sweep, type Trial } from '../sweep/record.js';
import { HostFailed, isOfHost, isOfTrial } from './trialErrors.js';
import { TrialPruner } from './trialPruner.js';

/** What is tried, where, and who hears of it. */
export interface SweepOptions extends Progress {
  machine: Machine;
  /** Of every trial. */
  profile: Profile;
  /** As it was left, or new. */
  sweep: Sweep;
  /** What a trial runs. Its name, tags and report are added. */
  runOf: (trial: Trial) => TypedRun;
  /** Trials under way at the same time. */
  atOnce: number;
  /**
   * Every trial is started at once, and then waits by itself until it is its turn. The sweep ends
   * with the last start. `slots`: how many of them run at a time; undefined where a queue says.
   */
  detached?: boolean;
  slots?: number | undefined;
  /** Among which trials of one node are shared out; empty where the nodes are those of the run. */
  hosts: readonly TrialHost[];
  /** Hosts for trials that lost theirs, where none of `hosts` is left. */
  reserves?: readonly string[];
  /** After each change of a trial, with all of them. */
  onSweep: (sweep: Sweep) => Promise<void>;
  /** Each run as it starts. */
  onRun: (id: string) => Promise<void>;
  /** Each trial as its run starts, goes on after it was left, and ends. */
  onTrial: (trial: Trial, what: 'started' | 'attached' | 'ended') => void;
  /** Of an error, in the words of a user interface. */
  errorWords?: (error: unknown) => string;
  logger?: Logger;
}

type TrialRun = NonNullable<Trial['run']>;

/**
 * The sweep at its end (detached: with its trials under way), also where `signal` ends it: runs that
 * are under way go on then. Rejects where the connection is lost for good, where too many trials
 * would wait at once, and where the sweep cannot be handed on; what there is was handed on before.
 */
export async function runSweep(options: SweepOptions): Promise<Sweep> {
  return new Sweeping(options).run();
}

class Sweeping {
  private sweep: Sweep;
  private readonly abort = sharedAbort();
  private readonly reader = new CompareReader();
  private readonly logger: Logger;
  private handed: Promise<void> = Promise.resolve();
  /** By host; of trials that are not shared out there is one. */
  private readonly starts = new Map<string | undefined, Promise<unknown>>();
  private readonly hosts: TrialHosts;
  /** Those that get no more trials, and of which that was said. */
  private readonly dropped = new Set<string>();
  /** Trials whose runs had ended before this side began. */
  private readonly over = new Set<number>();
  /** How many work on trials. */
  private busy = 0;
  /** Trials that lost a host: a second loss may be their own doing. */
  private readonly moved = new Set<number>();

  constructor(private readonly options: SweepOptions) {
    this.sweep = { ...options.sweep, cancelled: false };
    this.logger = options.logger ?? nullLogger;
    this.hosts = new TrialHosts(options.hosts, options.reserves);
  }

  async run(): Promise<Sweep> {
    const { signal, atOnce, detached } = this.options;
    const giveUp = (): void => {
      this.abort.abort();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      throwIfCancelled(signal);
      const { profile, hosts } = this.options;
      await this.hand();
      await this.findLeft();
      const open = this.sweep.trials.filter((trial) => !isTried(trial));
      const left = open.filter(({ run }) => run);
      if (detached) {
        const isSpread = hosts.length > 0 || open.some((one) => mayTakePorts(this.typedOf(one)));
        if (isSpread) assertPorts(profile, open.length);
        for (const { number, host } of left) this.hosts.attach(number, host);
      }
      // Those that are under way have the nodes that the others wait for.
      const followed = detached ? left.filter(({ number }) => this.over.has(number)) : left;
      const jobs = [...followed, ...open.filter(({ run }) => !run)].map(({ number }) => number);
      // Of trials that were started detached, more may be under way.
      this.busy = detached ? 1 : Math.min(Math.max(atOnce, left.length), jobs.length);
      const workers = Array.from({ length: this.busy }, () => this.work(jobs));
      const failed = (await Promise.allSettled(workers)).filter((one) => one.status === 'rejected');
      const error = failed.find(({ reason }) => !isCancelled(reason)) ?? failed[0];
      if (error) throw error.reason;
    } catch (error) {
      if (!isCancelled(error) || signal?.aborted !== true) throw error;
      this.sweep = { ...this.sweep, cancelled: true };
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
    await this.hand();
    return this.sweep;
  }

  /** Runs of trials that were under way when this side was ended, also of one that was starting. */
  private async findLeft(): Promise<void> {
    const { machine, profile } = this.options;
    const left = this.sweep.trials.filter(({ status }) => status === 'starting' || status === 'running');
    if (left.length === 0) return;
    const runs = await (await machine.registry(profile)).list();
    for (const trial of left) {
      const found = runs.find((run) => isRunOf(run, this.sweep, trial));
      if (found && isOver(statusOf(found))) this.over.add(trial.number);
      const run = found && { id: found.id, dir: found.dir };
      await this.replace(run ? { ...trial, status: 'running', run } : untried(trial));
    }
  }

  private async work(jobs: number[]): Promise<void> {
    for (;;) {
      const [number] = jobs;
      const isMany = this.busy > this.options.atOnce;
      if (number === undefined || (isMany && !this.trial(number).run)) {
        this.busy -= 1;
        return;
      }
      jobs.shift();
      try {
        throwIfCancelled(this.abort.signal);
        await this.try(number);
      } catch (error) {
        this.abort.abort(); // the others end too, and their runs go on
        throw error;
      }
    }
  }

  private async try(number: number): Promise<void> {
    const { run: left, host } = this.trial(number);
    if (left) {
      this.hosts.attach(number, host);
      this.options.onTrial(this.trial(number), 'attached');
    }
    let run = left ?? (await this.startSomewhere(number));
    if (this.options.detached && run && !this.over.has(number)) return; // its nodes keep it
    while (run && (await this.stay(number, run)) && (await this.canMove(number))) {
      run = await this.startSomewhere(number);
      if (this.options.detached && run) return;
    }
    const dropped = this.hosts.release(number, this.trial(number).status);
    if (dropped !== undefined) this.sayDropped(dropped, 'they fail there');
    this.options.onTrial(this.trial(number), 'ended');
  }

  /** Of a trial that was lost with its host: whether it begins anew on another one. */
  private async canMove(number: number): Promise<boolean> {
    const trial = this.trial(number);
    const { host } = trial;
    if (host === undefined || !this.hosts.lose(host)) return false;
    this.sayDropped(host, 'it was lost');
    if (this.moved.has(number)) {
      await this.change(trial, { why: `${trial.why} A host was lost under this trial before.`.trim() });
      return false;
    }
    this.moved.add(number);
    await this.replace(triedAgain(trial));
    return true;
  }

  /** On another host where the first one cannot start it. */
  private async startSomewhere(number: number): Promise<TrialRun | undefined> {
    for (;;) {
      const host = this.hosts.take(number);
      try {
        return await this.startInTurn(number, host);
      } catch (error) {
        if (!(error instanceof HostFailed)) throw error;
        this.sayDropped(error.host, error.message);
      }
    }
  }

  /** Once for each host: several trials may have been sent there. */
  private sayDropped(host: string, why: string): void {
    if (this.dropped.has(host)) return;
    this.dropped.add(host);
    const text = `${host} gets no more trials: ${why}`;
    this.logger.log('warn', text);
    this.options.onProgress?.(text);
  }

  /** One after the other on a host: so the first trials are the first in its queue of GPUs. */
  private startInTurn(number: number, host: string | undefined): Promise<TrialRun | undefined> {
    const before = this.starts.get(host) ?? Promise.resolve();
    const started = before.then(() => this.start(number, host));
    this.starts.set(
      host,
      started.catch(() => undefined),
    );
    return started;
  }

  /** Undefined where the trial could not be started, and is noted as failed. */
  private async start(number: number, host: string | undefined): Promise<TrialRun | undefined> {
    throwIfCancelled(this.abort.signal);
    const trial = this.trial(number);
    await this.change(trial, { status: 'starting', ...(host === undefined ? {} : { host }) });
    let run: TrialRun;
    try {
      run = await this.startRun(this.trial(number));
    } catch (error) {
      if (host !== undefined && isOfHost(error) && this.hosts.drop(host)) {
        await this.replace(untried(trial));
        throw new HostFailed(host, this.words(error));
      }
      if (!isOfTrial(error)) throw error;
      await this.change(trial, { status: 'failed', why: this.words(error) });
      return undefined;
    }
    // The run goes on from here: what fails now is no failure of the trial.
    await this.change(trial, { status: 'running', run });
    await this.options.onRun(run.id);
    this.options.onTrial(this.trial(number), 'started');
    return run;
  }

  private async startRun(trial: Trial): Promise<TrialRun> {
    const { machine, onProgress } = this.options;
    const { signal } = this.abort;
    const request = this.requestOf(trial);
    const { id, dir } = await machine.start(request, { signal, ...(onProgress ? { onProgress } : {}) });
    return { id, dir };
  }

  /** It queues where others hold the GPUs that it takes. */
  private requestOf(trial: Trial): RunRequest {
    const { name, created } = this.sweep;
    const typed = this.typedOf(trial);
    const report = { kind: 'sweep', begun: created, trial: trial.number } as const;
    const tags = [...trialTags(name, trial.values), ...(typed.tags ?? [])];
    const { detached = false, slots } = this.options;
    const turn = { detached, ...(detached ? slotsOf(this.sweep, trial, slots) : {}) };
    const request = requestOf({ ...typed, name: trial.name, tags, report, wait: false, ...turn });
    const takesGpus = request.device === 'cuda' || request.device === 'auto';
    return takesGpus ? { ...request, wait: true } : request;
  }

  private typedOf(trial: Trial): TypedRun {
    const typed = this.options.runOf(trial);
    return trial.host === undefined ? typed : onHost(typed, trial.host);
  }

  /** Until its end. Whether it failed since its host was lost. */
  private async stay(number: number, { dir }: TrialRun): Promise<boolean> {
    const { machine, profile } = this.options;
    const client = (): ReturnType<typeof machine.node.client> => machine.node.client();
    const { logger } = this;
    const pruner = this.prunerOf(number, dir);
    const follower = new RunFollower({ dir, client, logger, extras: () => pruner?.files ?? [] });
    pruner?.follow(follower);
    const lost = new LostNodes({
      joinAgain: async (_, run, host, signal) => machine.joinAgain?.(profile, run, host, { signal }),
      logger,
    });
    follower.onState((details) => {
      lost.saw(profile.name, details);
    });
    const giveUp = (): void => {
      follower.dispose();
    };
    this.abort.signal.addEventListener('abort', giveUp, { once: true });
    try {
      throwIfCancelled(this.abort.signal);
      const followed = follower.follow();
      const details = await (pruner ? Promise.race([followed, pruner.failure]) : followed);
      await pruner?.end();
      await this.change(this.trial(number), await this.outcome(details, number));
      return this.isLost(details, number);
    } catch (error) {
      if (this.abort.signal.aborted) throw new Cancelled();
      if (!(error instanceof AgentError)) throw error;
      await this.change(this.trial(number), { status: 'failed', why: this.words(error) });
      return false;
    } finally {
      this.abort.signal.removeEventListener('abort', giveUp);
      lost.dispose();
      follower.dispose();
    }
  }

  private isLost({ state }: RunDetails, number: number): boolean {
    const { host, status } = this.trial(number);
    const its = state?.nodes?.find((node) => node.host === host);
    return status === 'failed' && its?.state === 'lost';
  }

  /** Undefined where no trial is stopped for being poor. */
  private prunerOf(number: number, dir: NodePath): TrialPruner | undefined {
    const { metric, prune: first } = this.sweep;
    if (first === undefined) return undefined;
    return new TrialPruner({
      ...{ metric, first, logger: this.logger },
      trial: () => this.trial(number),
      others: () => this.sweep.trials.filter((one) => one.number !== number),
      change: (change) => this.change(this.trial(number), change),
      stop: () => this.options.machine.stop(dir, 'checkpoint'),
    });
  }

  /** What the run's files say of it. */
  private async outcome(details: RunDetails, number: number): Promise<Partial<Trial>> {
    const { machine, profile } = this.options;
    const run = await this.reader.read(await machine.node.client(), profile.name, details);
    const { imagesPerSec, seconds, cost } = run.figures;
    const { poor } = this.trial(number);
    const end = endOf(details);
    const pruned = end === 'stopped' ? poor : undefined;
    const status = pruned === undefined ? end : 'pruned';
    return {
      ...metricValue(run, this.sweep.metric),
      ...{ status, imagesPerSec, seconds, cost, currency: run.currency },
      why: end === 'finished' ? '' : (pruned ?? reasonOf(details) ?? ''),
      reported: [...new Set(run.own.map(({ tag }) => tag))],
    };
  }

  private trial(number: number): Trial {
    const found = this.sweep.trials.find((one) => one.number === number);
    if (!found) throw new TypeError(`there is no trial ${number}`);
    return found;
  }

  private change(trial: Trial, change: Partial<Trial>): Promise<void> {
    return this.replace({ ...this.trial(trial.number), ...change });
  }

  private async replace(trial: Trial): Promise<void> {
    const trials = this.sweep.trials.map((one) => (one.number === trial.number ? trial : one));
    this.sweep = { ...this.sweep, trials };
    await this.hand();
  }

  /** One after the other: all write the same files. */
  private hand(): Promise<void> {
    const { sweep } = this;
    const handed = this.handed.then(() => this.options.onSweep(sweep));
    this.handed = handed.catch(() => undefined);
    return handed;
  }

  private words(error: unknown): string {
    return (this.options.errorWords ?? errorText)(error);
  }
}

/** The trials share the slots, and begin in their order. */
function slotsOf(
  { name, created }: Sweep,
  { number: place }: Trial,
  count: number | undefined,
): Pick<TypedRun, 'slots'> {
  if (count === undefined) return {};
  const group = `${cleanLabel(name) || 'sweep'}-${Math.round(created).toString(36)}`;
  return { slots: { group, count, place } };
}

function endOf(details: RunDetails): Trial['status'] {
  const status = statusOf(details);
  return status === 'finished' || status === 'stopped' || status === 'interrupted' ? status : 'failed';
}

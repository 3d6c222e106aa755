// One run followed to its end: its state, its journal and its metrics, across lost connections.
import { setTimeout as delay } from 'node:timers/promises';
import { Cancelled, errorText, UserError } from '../base/errors.js';
import { DisposableStore, Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import { metricSchema, type Metric } from '../contracts/metricsSchema.js';
import type { TailLine } from '../streams/tail.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { AgentClient } from '../agent/agentClient.js';
import { FollowedFile } from '../agent/remoteFile.js';
import { check, problemsText } from '../base/validation.js';
import { isEnd } from '../model/runStatus.js';
import { eventSchema, type RunEvent } from '../contracts/runSchema.js';
import { join, type NodePath } from '../base/nodePath.js';

/** Milliseconds between a loss and the next attempt; twice as long each time. */
export const firstPause = 200;
/** Milliseconds. */
export const longestPause = 5000;
/** Where the agent had answered: a link that breaks again and again is used as long as it lasts. */
const longestAfterAnswer = 1000;

/** One line of a JSON Lines file of a run. `offset` is that of the first byte in the file. */
export interface FollowedLine<T> {
  offset: number;
  /** The line as it stands in the file, with fields that this version does not know. */
  raw: unknown;
  /** The line as this version understands it; undefined for a kind that it does not. */
  value: T | undefined;
}

/** A further file of the run that is followed, by its name in the run folder. */
export interface ExtraFile {
  name: string;
  /** Byte offset at which reading begins. */
  start: number;
  onLine: (line: TailLine) => void;
  /** At the end of the run: what stands after the last line, where anything does. */
  onUnfinished?: (text: string, offset: number) => void;
  /** At each look: the newest state of a progress bar, whose line has not ended. */
  onProgress?: (text: string) => void;
  /** The file was replaced; its lines come again from its start. */
  onReset: () => void;
}

/** Which run is followed, and how. */
export interface RunFollowerOptions {
  dir: NodePath;
  /** The node's connection; asked again after a loss. */
  client: () => Promise<AgentClient>;
  logger?: Logger;
  /** Milliseconds between two looks at the state. */
  pollInterval?: number;
  /**
   * Asked at every look which further files to follow; those that are followed already are left as
   * they are.
   */
  extras?: (details: RunDetails) => readonly ExtraFile[];
  /** `updated` of the state that an earlier run left in the folder: it says nothing of this one. */
  staleState?: number;
}

/**
 * Delivers the lines of a run's metrics and journal, each file in its order, and the run's state.
 * The connection is another's.
 */
export class RunFollower implements Disposable {
  private readonly store = new DisposableStore();
  private readonly files: FollowedFile[];
  private readonly metricsFile: FollowedFile;
  private readonly eventsFile: FollowedFile;
  private readonly metrics = this.store.add(new Emitter<FollowedLine<Metric>>());
  private readonly events = this.store.add(new Emitter<FollowedLine<RunEvent>>());
  private readonly states = this.store.add(new Emitter<RunDetails>());
  private readonly connections = this.store.add(new Emitter<'lost' | 'back'>());
  private readonly resets = this.store.add(new Emitter<undefined>());
  private readonly logger: Logger;
  private readonly wake = new AbortController();
  private poke: (() => void) | undefined;
  private finishedSeen = false;
  private readonly extras = new Map<string, { extra: ExtraFile; file: FollowedFile }>();

  readonly onMetric: Event<FollowedLine<Metric>> = this.metrics.event;
  readonly onEvent: Event<FollowedLine<RunEvent>> = this.events.event;
  readonly onState: Event<RunDetails> = this.states.event;
  readonly onConnection: Event<'lost' | 'back'> = this.connections.event;
  /** metrics.jsonl was replaced; what came before no longer stands. */
  readonly onReset: Event<undefined> = this.resets.event;

  constructor(private readonly options: RunFollowerOptions) {
    this.logger = options.logger ?? nullLogger;
    this.metricsFile = this.store.add(new FollowedFile(join(options.dir, 'metrics.jsonl')));
    this.eventsFile = this.store.add(new FollowedFile(join(options.dir, 'events.jsonl')));
    this.files = [this.eventsFile, this.metricsFile];
    this.metricsFile.onLine((line) => {
      if (isOwnReport(line.text)) return;
      this.metrics.fire(this.understand(line, metricSchema, 'metrics.jsonl'));
    });
    this.metricsFile.onReset(() => {
      this.resets.fire(undefined);
    });
    this.eventsFile.onLine((line) => {
      const followed = this.understand(line, eventSchema, 'events.jsonl');
      this.events.fire(followed);
      this.finishedSeen = followed.value?.kind === 'finished'; // a run may be started again in its folder
      if (this.finishedSeen) this.poke?.();
    });
  }

  /**
   * Follows until the run is over and every line of it has been delivered. Resolves with the last
   * state; rejects only when the run's folder is gone, or with Cancelled through `dispose`.
   */
  async follow(): Promise<RunDetails> {
    let lost = false;
    let pause = firstPause;
    for (;;) {
      let longest = longestPause;
      try {
        const client = await this.options.client();
        longest = longestAfterAnswer;
        const details = await this.look(client);
        if (lost) this.connections.fire('back');
        lost = false;
        pause = firstPause;
        if (this.isEnd(details)) {
          for (const { extra, file } of this.extras.values()) {
            if (file.unfinished !== '') extra.onUnfinished?.(file.unfinished, file.unfinishedAt);
          }
          return details;
        }
        await this.sleep(this.options.pollInterval ?? 1000);
      } catch (error) {
        if (this.store.isDisposed || !isConnectionError(error)) throw error;
        this.logger.log('info', `following ${this.options.dir}: ${errorText(error)}`);
        if (!lost) this.connections.fire('lost');
        lost = true;
        pause = Math.min(pause, longest);
        await this.sleep(pause);
        pause *= 2;
      }
    }
  }

  dispose(): void {
    this.wake.abort();
    this.store.dispose();
  }

  /**
   * One look at the state; attaches what is not attached, and at the end reads the files to theirs.
   */
  private async look(client: AgentClient): Promise<RunDetails> {
    for (const file of this.files) if (!file.isAttached) await file.attach(client);
    const details = await client.request('run.get', { dir: this.options.dir });
    await this.followExtras(client, details);
    if (this.isEnd(details)) await this.readToTheEnd(client, details.interrupted);
    else this.showProgress();
    this.states.fire(details);
    return details;
  }

  private async followExtras(client: AgentClient, details: RunDetails): Promise<void> {
    for (const extra of this.options.extras?.(details) ?? []) {
      if (this.extras.has(extra.name)) continue;
      const file = this.store.add(new FollowedFile(join(this.options.dir, extra.name), extra.start));
      this.extras.set(extra.name, { extra, file });
      file.onLine(extra.onLine);
      file.onReset(extra.onReset);
      this.files.push(file);
      await file.attach(client);
    }
  }

  private showProgress(): void {
    for (const { extra, file } of this.extras.values()) {
      const segment = extra.onProgress && file.newestSegment;
      if (segment !== undefined) extra.onProgress?.(segment);
    }
  }

  private isEnd(details: RunDetails): boolean {
    return isEnd(details, this.options.staleState);
  }

  /** The journal's last line may be written a moment after the last state. */
  private async readToTheEnd(client: AgentClient, interrupted: boolean): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      for (const file of this.files) await file.drain(client);
      if (this.finishedSeen || interrupted) return;
      await this.sleep(100);
    }
  }

  private async sleep(milliseconds: number): Promise<void> {
    const poked = new Promise<void>((resolve) => {
      this.poke = resolve;
    });
    const timer = new AbortController();
    const signal = AbortSignal.any([this.wake.signal, timer.signal]);
    try {
      await Promise.race([poked, delay(milliseconds, undefined, { signal })]);
    } catch {
      throw new Cancelled('no longer followed');
    } finally {
      timer.abort();
      this.poke = undefined;
    }
  }

  private understand<T>(
    line: TailLine,
    schema: Parameters<typeof check>[0] & { _zod: { output: T } },
    file: string,
  ): FollowedLine<T> {
    let raw: unknown;
    try {
      raw = JSON.parse(line.text);
    } catch (error) {
      this.logger.log('warn', `${file} at byte ${line.offset}: ${errorText(error)}`);
      return { offset: line.offset, raw: undefined, value: undefined };
    }
    const result = check(schema, raw);
    if (result.ok) return { offset: line.offset, raw, value: result.data };
    this.logger.log('warn', `${file} at byte ${line.offset}: ${problemsText(result.problems)}`);
    return { offset: line.offset, raw, value: undefined };
  }
}

/** A line of an own program: it has no kind, and comes as figures (docs/contracts/figures.md). */
const isOwnReport = (text: string): boolean => /^\s*\{.*\}\s*$/.test(text) && !text.includes('"kind"');

/** Whether what failed may come back by itself. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof UserError && error.code === 'connection';
}

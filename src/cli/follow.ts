// Staying with a run until it ends: what `run` and `attach` share.
import { Cancelled, UserError } from '../core/base/errors.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import { Figures } from '../core/model/series/figures.js';
import { figureFile, figuresFile } from '../core/follow/figureLines.js';
import { evaluationData } from '../core/plan/evaluated.js';
import { RunJournal } from '../core/model/runJournal.js';
import { RunMetrics } from '../core/model/runMetrics.js';
import { StepTable } from '../core/model/series/stepTable.js';
import type { RunDetails } from '../core/contracts/agentApi.js';
import { exitCodeOf } from '../core/model/runExit.js';
import { resumeCommand } from '../core/plan/resume.js';
import { mostRankOutputs, outputFiles, progressEvery } from '../core/follow/runOutput.js';
import { LostNodes } from '../core/follow/lostNodes.js';
import { RunFollower, type ExtraFile } from '../core/follow/run.js';
import { reasonOf } from '../core/model/runStatus.js';
import { summarize } from '../core/model/runSummary.js';
import { boardPlaceOf, bridgeToSocket } from '../core/tunnels/tensorboard.js';
import type { Context } from './context.js';
import { otherHeadText } from './otherHead.js';
import { JsonPrinter, TablePrinter, type RunPrinter } from './printer.js';
import type { NodePath } from '../core/base/nodePath.js';
import { adviceText, errorWords } from './remedies.js';

export interface FollowOptions {
  dir: NodePath;
  /** Ctrl-C stops the run; otherwise it only leaves it. */
  ownsRun: boolean;
  /** Bring TensorBoard here when the run serves it. */
  tensorboard: boolean;
  /**
   * Metrics and journal lines before these offsets are not shown: they belong to an earlier run in
   * the folder.
   */
  from?: { metrics: number; events: number; logs: Readonly<Record<string, number>>; figures: number };
  /** `updated` of the state that an earlier run left. */
  staleState?: number;
  /** For a person, old step lines before this offset are left out. */
  stepsFrom?: number;
  /** Likewise of an own program's figures. */
  figuresFrom?: number;
  /** For a person, show what the ranks print: a command has no metrics. */
  showLog?: boolean;
  /** Ctrl-C came already, while the run was being started. */
  interrupted?: boolean;
}

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Leaving = keyof typeof signalNumbers;

export const makePrinter = (context: Context): RunPrinter =>
  context.json ? new JsonPrinter(context.output) : new TablePrinter(context.output);

/**
 * Follows to the end, shows a summary, and returns the exit code of the run; or of the signal that
 * made it leave.
 */
export async function followRun(
  context: Context,
  printer: RunPrinter,
  options: FollowOptions,
): Promise<number> {
  const store = new DisposableStore();
  const from = options.from ?? { metrics: 0, events: 0, logs: {}, figures: 0 };
  let figures = new Figures();
  const reports = figureFile(
    (line, offset) => {
      figures.add(line);
      const old = !context.json && offset < (options.figuresFrom ?? 0);
      if (offset >= from.figures && !old) printer.figure(line, offset);
    },
    () => {
      figures = new Figures();
    },
  );
  let width = 0;
  const output = outputFiles(
    (rank, text) => {
      context.output.line(width === 0 ? text : `${`[${rank}]`.padEnd(width)} ${text}`);
    },
    from.logs,
    context.output.width === undefined ? progressEvery.other : progressEvery.terminal,
  );
  const logs = (details: RunDetails): ExtraFile[] => {
    const ranks = details.run?.ranks ?? 1;
    width = ranks === 1 ? 0 : `[${Math.min(ranks, mostRankOutputs) - 1}]`.length;
    return output(details);
  };
  let record: RunDetails | undefined;
  const follower = store.add(
    new RunFollower({
      dir: options.dir,
      client: () => context.node.client(),
      logger: context.logger,
      extras: (details) => {
        record = details;
        return [
          ...(options.showLog === true && !context.json ? logs(details) : []),
          ...(figuresFile in details.files ? [reports] : []),
        ];
      },
      ...(options.staleState === undefined ? {} : { staleState: options.staleState }),
    }),
  );
  const none = (): RunMetrics => new RunMetrics(new StepTable(), () => record && evaluationData(record));
  let metrics = none();
  follower.onReset(() => {
    metrics = none();
  });
  follower.onMetric((line) => {
    if (line.value) metrics.add(line.value);
    if (line.offset < from.metrics) return;
    const old = !context.json && line.offset < (options.stepsFrom ?? 0) && line.value?.kind === 'step';
    if (!old) printer.metric(line);
  });
  const journal = new RunJournal();
  follower.onEvent((line) => {
    if (line.value) journal.add(line.value);
    if (line.offset < from.events) return;
    printer.event(line);
    if (options.tensorboard && line.value?.kind === 'tensorboard_started') {
      void bringTensorBoard(context, printer, store, options.dir);
    }
  });
  let stand = '';
  follower.onState(({ queue, state }) => {
    // How much time is left changes with every look.
    const now = queue?.kind === 'running' ? queue.kind : (queue?.text ?? state?.waiting ?? '');
    if (now === stand) return;
    stand = now;
    if (queue) printer.queue(queue);
    else if (now !== '') printer.waiting(now);
  });
  const { machine, currentProfile, logger } = context;
  const lost = store.add(
    new LostNodes({
      joinAgain: async (_, run, host, signal) => machine.joinAgain?.(currentProfile, run, host, { signal }),
      logger,
    }),
  );
  follower.onState((details) => {
    lost.saw(currentProfile.name, details);
  });
  let copied: string | undefined;
  follower.onState((details) => {
    copied = otherHeadText(details);
  });
  follower.onConnection((change) => {
    const lost = `the connection was lost; trying again${copied === undefined ? '' : `. ${copied}`}`;
    context.output.note(change === 'lost' ? lost : 'connected again');
  });
  const left = leaveOnSignals(context, store, options);
  try {
    const end = await Promise.race([follower.follow(), left]);
    if (typeof end === 'string') return 128 + signalNumbers[end];
    const checkpoints = await countCheckpoints(context, options.dir);
    printer.summary(summarize(end, metrics, checkpoints, figures, journal));
    if (end.interrupted) noteResume(context, end);
    if (hasDiverged(end)) noteNewRun(context, end.id, checkpoints);
    return exitCodeOf(end);
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    throw new UserError(
      'connection',
      'the login was given up, so the run is no longer followed; the run goes on',
      `Attach again with: trainyard attach ${options.dir}`,
      { cause: error },
    );
  } finally {
    store.dispose();
  }
}

/** How an interrupted run is started again; the command ends its line, to be copied. */
export function noteResume(context: Context, entry: Pick<RunDetails, 'run' | 'dir'>): void {
  const again = resumeCommand(entry, context.currentProfile.name);
  if (again !== undefined) context.output.note(`it goes on from its newest valid checkpoint with: ${again}`);
}

/** Begins the trainer's own advice where loss or weights are no finite numbers. */
const divergedAdvice = 'Lower --lr, add --warmup-epochs or --clip-norm';

const hasDiverged = (entry: RunDetails): boolean =>
  entry.state?.phase === 'failed' && (reasonOf(entry)?.includes(divergedAdvice) ?? false);

/** The trainer's advice names its own flags; a resume of this run would repeat its rate. */
function noteNewRun({ output, currentProfile }: Context, id: string, checkpoints: number): void {
  const [from, command] =
    checkpoints > 0
      ? [' with the weights of its last good checkpoint', `run-from ${id} -- --lr RATE`]
      : ['', `run ${currentProfile.name} -- train … --lr RATE`];
  output.note(`a new run${from}, with a lower rate, is started with: trainyard ${command}`);
}

/**
 * Resolves when a signal makes this client leave. What a signal does to the run, it does before.
 */
function leaveOnSignals(context: Context, store: DisposableStore, options: FollowOptions): Promise<Leaving> {
  return new Promise((resolve) => {
    let asked = 0;
    const leave = (signal: Leaving): void => {
      context.output.note(`detached; the run goes on. Attach again with: trainyard attach ${options.dir}`);
      resolve(signal);
    };
    const interrupt = (): void => {
      if (!options.ownsRun) {
        leave('SIGINT');
        return;
      }
      asked++;
      void askToStop(context, options.dir, asked);
    };
    const on = (signal: Leaving, handler: () => void): void => {
      process.on(signal, handler);
      store.defer(() => process.off(signal, handler));
    };
    on('SIGINT', interrupt);
    on('SIGTERM', () => {
      leave('SIGTERM');
    });
    on('SIGHUP', () => {
      leave('SIGHUP');
    });
    if (options.interrupted === true) interrupt();
  });
}

/**
 * The first time after a checkpoint, the second time now, and from the third on without the
 * supervisor's help.
 */
async function askToStop(context: Context, dir: NodePath, times: number): Promise<void> {
  try {
    if (times === 1) {
      context.output.note('stopping after a checkpoint (Ctrl-C again: stop now)');
      await context.machine.stop(dir, 'checkpoint');
    } else if (times === 2) {
      context.output.note('stopping now');
      await context.machine.stop(dir, 'now');
    } else {
      context.output.note('killing every process of the run');
      await (await context.node.client()).request('run.kill', { dir });
    }
  } catch (error) {
    context.output.note(`trainyard: error: the stop was not delivered: ${errorWords(error)}`);
  }
}

async function bringTensorBoard(
  context: Context,
  printer: RunPrinter,
  store: DisposableStore,
  dir: NodePath,
): Promise<void> {
  try {
    // The journal's line may be an old one: what counts is whether it serves now.
    const place = await boardPlaceOf(context.machine, dir);
    const { running, socket } = await (await place.client()).request('tensorboard.status', { dir });
    if (!running || typeof socket !== 'string') return;
    const options = { logger: context.logger, howToOpen: adviceText({ kind: 'openTensorBoard' }) };
    const bridge = store.add(await bridgeToSocket(place, socket, options));
    printer.tensorboard(bridge.url);
  } catch (error) {
    context.output.note(`trainyard: error: ${errorWords(error)}`);
  }
}

async function countCheckpoints(context: Context, dir: NodePath): Promise<number> {
  const { checkpoints } = await (await context.node.client()).request('checkpoint.list', { dir });
  return checkpoints.filter(({ valid }) => valid).length;
}

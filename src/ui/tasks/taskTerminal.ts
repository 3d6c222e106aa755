// The terminal of a task: starts a run, shows what its ranks print, and ends with its exit code.
// The run does not need the terminal.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { Cancelled, exitCodes, isCancelled, remedyOf, UserError } from '../../core/base/errors.js';
import { sharedAbort } from '../../core/base/lifecycle.js';
import type { StartedRun } from '../../core/cluster/nodes/machine.js';
import { AgentError } from '../../core/agent/agentClient.js';
import { agentErrors, type RunDetails } from '../../core/contracts/agentApi.js';
import { RunFollower } from '../../core/follow/run.js';
import { mostRankOutputs, outputFiles } from '../../core/follow/runOutput.js';
import { eventLevel, eventText } from '../../core/model/marks.js';
import { ReturnedNodes } from '../../core/model/returnedNodes.js';
import { exitCodeOf } from '../../core/model/runExit.js';
import { statusOf, waitingText } from '../../core/model/runStatus.js';
import { checkFiles, taskRun, type TaskRun } from '../../core/plan/runTask.js';
import { withTrainDefaults } from '../../core/plan/request/trainDefaults.js';
import { joinWords } from '../../core/plan/request/argv.js';
import { showError } from '../commands/showError.js';
import { beginRun, isWorthWaiting, wantsToWait } from '../commands/start/startRun.js';
import { warningText } from '../commands/start/tellWarnings.js';
import { stopRun } from '../commands/runs/stopRun.js';
import type { Ui } from '../commands/ui.js';
import { showStarted } from '../panels/showStarted.js';
import { errorWords } from '../remedies.js';

const colours = { plain: '', note: '\x1b[2m', warning: '\x1b[33m', error: '\x1b[31m', good: '\x1b[32m' };
type Colour = keyof typeof colours;
const interrupt = '\x03';

export class TaskTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly ended = new vscode.EventEmitter<number>();
  private readonly starting = sharedAbort();
  private follower: RunFollower | undefined;
  private run: RunArgument | undefined;
  private stops = 0;
  /** The error that was shown last. */
  private told: unknown;
  private over = false;

  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.ended.event;

  constructor(
    private readonly ui: Ui,
    private readonly definition: unknown,
    private readonly folder: string,
  ) {}

  open(): void {
    void this.work().then((code) => {
      this.over = true;
      this.ended.fire(code);
    });
  }

  /** Ctrl-C asks for a stop as it does for the terminal's own `run`. */
  handleInput(text: string): void {
    if (!text.includes(interrupt) || this.over) return;
    if (this.run) void this.stop(this.run);
    else this.starting.abort();
  }

  /** The terminal was closed, or the task ended by its command. */
  close(): void {
    if (!this.over) {
      this.starting.abort();
      this.follower?.dispose();
      if (this.run) void tellGoesOn(this.ui, this.run);
    }
    this.over = true;
    this.written.dispose();
    this.ended.dispose();
  }

  /** To the end of the run. Resolves with the exit code. */
  private async work(): Promise<number> {
    try {
      const task = taskRun(this.definition, this.folder);
      const started = await this.start(task);
      const details = await this.follow(task.profile, started);
      const status = statusOf(details);
      const reason = details.state?.reason;
      const text = `${started.id} ${status}${typeof reason === 'string' ? `: ${reason}` : ''}`;
      this.line(text, status === 'finished' ? 'good' : 'error');
      return exitCodeOf(details);
    } catch (error) {
      return this.failed(error);
    }
  }

  private async start(asked: TaskRun): Promise<StartedRun> {
    const { ui } = this;
    const backend = await ui.services.backend();
    const { profile } = await backend.session(asked.profile);
    const task = withTrainDefaults(asked, profile);
    const { dashboard, tensorboard = false, wait, ...rest } = task;
    const { codeFolder, requirements } = rest;
    const recent = {
      ...rest,
      ...(codeFolder === undefined ? {} : { codeFolder: resolve(this.folder, codeFolder) }),
      ...(requirements === undefined ? {} : { requirements: resolve(this.folder, requirements) }),
    };
    if (profile.kind === 'local' && codeFolder === undefined) {
      checkFiles(task, { exists: existsSync, resolve });
    }
    this.line(`${task.profile}> ${joinWords(task.words)}`, 'note');
    const onProgress = (text: string): void => {
      this.line(text, 'note');
    };
    const begin = (wait: boolean): Promise<StartedRun> =>
      beginRun(ui, recent, { tensorboard, wait }, { onProgress, signal: this.starting.signal });
    const started = await begin(wait ?? false).catch(async (error: unknown) => {
      if (wait !== undefined || !isWorthWaiting(error)) throw error;
      await this.askToWait(error);
      return begin(true);
    });
    const run = { profile: task.profile, id: started.id, dir: started.dir };
    this.run = run;
    this.line(`run ${started.id}`, 'note');
    for (const warning of started.warnings ?? []) this.line(warningText(warning), 'warning');
    if (this.over) {
      void tellGoesOn(ui, run);
    } // closed while it started
    else showStarted(ui, run, { dashboard, tensorboard });
    await backend.monitor.refresh(task.profile);
    return started;
  }

  /** Resolves where the user wants to wait for the GPUs; else throws the error, or Cancelled. */
  private async askToWait(error: unknown): Promise<void> {
    this.tell(error);
    this.line('wait for the GPUs? The notification asks (Ctrl-C: no start)', 'warning');
    const { signal } = this.starting;
    let abort = (): void => undefined;
    const givenUp = new Promise<never>((_, reject) => {
      abort = () => {
        reject(new Cancelled());
      };
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
    });
    try {
      if (!(await Promise.race([wantsToWait(this.ui, error), givenUp]))) throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private async follow(profile: string, { dir, before }: StartedRun): Promise<RunDetails> {
    const backend = await this.ui.services.backend();
    const returned = new ReturnedNodes();
    let ranks = 1;
    const output = outputFiles((rank, text) => {
      this.line(ranks === 1 ? text : `\x1b[36m[${rank}]\x1b[0m ${text}`);
    }, before?.files);
    const follower = new RunFollower({
      dir,
      client: async () => (await backend.machineUnlessLeft(profile)).node.client(),
      logger: this.ui.services.logger,
      extras: (details) => {
        const known = ranks;
        ranks = details.run?.ranks ?? ranks;
        if (ranks > mostRankOutputs && ranks !== known) {
          this.line(
            `output of the first ${mostRankOutputs} of ${ranks} ranks; the others' is in their logs`,
            'note',
          );
        }
        return output(details);
      },
      ...(before?.state ? { staleState: before.state.updated } : {}),
    });
    this.follower = follower;
    if (this.over) follower.dispose();
    follower.onEvent(({ offset, value }) => {
      if (!value || offset < (before?.files['events.jsonl'] ?? 0) || value.kind === 'finished') return;
      const back = returned.add(value);
      if (back !== undefined) this.line(back, 'note');
      const level = eventLevel(value);
      if (level !== 'info') this.line(eventText(value), level);
    });
    let place: string | undefined;
    follower.onState((details) => {
      const now = waitingText(details);
      if (now !== undefined && now !== place) this.line(now, 'note');
      place = now;
    });
    follower.onConnection((change) => {
      this.line(change === 'lost' ? 'the connection was lost; trying again' : 'connected again', 'warning');
    });
    try {
      return await follower.follow();
    } finally {
      follower.dispose();
    }
  }

  private async stop(run: RunArgument): Promise<void> {
    this.stops++;
    const mode = this.stops === 1 ? 'checkpoint' : 'now';
    this.line(
      mode === 'checkpoint' ? 'stopping after a checkpoint (Ctrl-C again: stop now)' : 'stopping now',
      'warning',
    );
    try {
      const machine = await (await this.ui.services.backend()).machine(run.profile);
      await machine.stop(run.dir, mode);
    } catch (error) {
      this.line(`the stop was not delivered: ${errorWords(error)}`, 'error');
    }
  }

  private failed(error: unknown): number {
    if (isCancelled(error)) {
      const { run } = this;
      const goesOn =
        run && `${run.profile} was disconnected: run ${run.id} goes on, and is not followed here`;
      this.line(goesOn ?? 'given up before the run started', 'warning');
      return exitCodes.stopped;
    }
    if (error !== this.told) {
      this.tell(error);
      if (remedyOf(error) !== undefined) void showError(this.ui, error); // with its button
    }
    if (error instanceof UserError) return error.exitCode;
    if (!(error instanceof AgentError) || error.code <= 0) return exitCodes.defect;
    return error.code === agentErrors.notFound ? exitCodes.usage : exitCodes.preflight;
  }

  private tell(error: unknown): void {
    this.told = error;
    this.line(errorWords(error), 'error');
    this.ui.services.logger.log('error', `task: ${errorWords(error)}`);
  }

  private line(text: string, colour: Colour = 'plain'): void {
    if (this.over) return;
    const begin = colours[colour];
    this.written.fire(`${begin}${text}${begin === '' ? '' : '\x1b[0m'}\r\n`);
  }
}

async function tellGoesOn(ui: Ui, run: RunArgument): Promise<void> {
  const open = 'Open Dashboard';
  const stop = 'Stop Now…';
  const text = `${run.id} goes on without its terminal.`;
  const answer = await vscode.window.showInformationMessage(text, open, stop);
  if (answer === open) ui.dashboards.show(run);
  if (answer !== stop) return;
  try {
    await stopRun(ui, 'now', run);
  } catch (error) {
    if (!isCancelled(error)) void showError(ui, error);
  }
}

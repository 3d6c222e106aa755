// What `run`, `resume` and `run-from` share: a start, and staying with the run.
import { exitCodes } from '../core/base/errors.js';
import type { StartedRun } from '../core/cluster/nodes/machine.js';
import type { RunDetails } from '../core/contracts/agentApi.js';
import { figuresFile } from '../core/follow/figureLines.js';
import type { RunRequest } from '../core/plan/request/request.js';
import type { Args } from './args.js';
import type { Context } from './context.js';
import { followRun, makePrinter } from './follow.js';
import type { LiveExports } from './liveExports.js';
import type { RunPrinter } from './printer.js';
import { printWarnings } from './startWarnings.js';

/**
 * Starts it, and follows it unless `--detach` is given. `name`: one that it was given now. Returns
 * the exit code.
 */
export async function startAndStay(
  context: Context,
  args: Args,
  request: RunRequest,
  exports: LiveExports,
  name?: string,
): Promise<number> {
  const ctrlC = new CtrlC();
  try {
    const started = await context.withProgress(async (progress) => {
      const run = await context.machine.start(request, progress);
      ctrlC.listen(progress.signal.aborted);
      return run;
    });
    await context.note(started.id, context.currentProfile.name, name);
    return await stayWith(context, args, started, exports, ctrlC);
  } finally {
    ctrlC.leave();
  }
}

/** Notes Ctrl-C from the end of a start until somebody follows the run: it is to stop the run. */
class CtrlC {
  came = false;
  private readonly take = (): void => {
    if (this.came) {
      this.leave();
      process.kill(process.pid, 'SIGINT'); // a second one ends the client
    }
    this.came = true;
  };

  /** `came`: it came before, while the run was being started. */
  listen(came: boolean): void {
    this.came = came;
    process.on('SIGINT', this.take);
  }

  leave(): void {
    process.off('SIGINT', this.take);
  }
}

async function stayWith(
  context: Context,
  args: Args,
  started: StartedRun,
  exports: LiveExports,
  ctrlC: CtrlC,
): Promise<number> {
  const { id, dir, before, note, warnings = [] } = started;
  printWarnings(context, warnings);
  const printer = makePrinter(context);
  const details = await printStarted(context, printer, started, ctrlC);
  if (note !== undefined) context.output.note(`trainyard: note: ${note}`);
  if (args.has('detach') && !ctrlC.came) {
    if (details.state?.phase === 'queued') {
      context.output.note(`the run waits for its turn. To leave the queue: trainyard stop ${id}`);
    }
    if (!context.json) context.output.line(`attach with: trainyard attach ${id}`);
    return exitCodes.done;
  }
  const staleState = before?.state?.updated;
  exports.begin(details, staleState);
  try {
    const following = followRun(context, printer, {
      dir,
      ownsRun: true,
      tensorboard: args.has('tensorboard'),
      showLog: details.run?.program === 'command',
      interrupted: ctrlC.came,
      ...(before === undefined
        ? {}
        : {
            from: {
              metrics: before.files['metrics.jsonl'] ?? 0,
              events: before.files['events.jsonl'] ?? 0,
              logs: before.files,
              figures: before.files[figuresFile] ?? 0,
            },
          }),
      ...(staleState === undefined ? {} : { staleState }),
    });
    ctrlC.leave(); // from here on it is heard there
    const code = await following;
    // Of a signal: the run goes on.
    if (code > 128) exports.leave();
    return await exports.finish(code);
  } catch (error) {
    exports.leave();
    throw error;
  }
}

/** Says which run it is, also where its node is lost again: it goes on, also after Ctrl-C. */
async function printStarted(
  context: Context,
  printer: RunPrinter,
  { id, dir }: StartedRun,
  ctrlC: CtrlC,
): Promise<RunDetails> {
  try {
    const details = await (await context.node.client()).request('run.get', { dir });
    printer.run(id, dir, details.run);
    return details;
  } catch (error) {
    printer.run(id, dir, null);
    if (ctrlC.came) context.output.note(`the run goes on. To stop it: trainyard stop ${id}`);
    throw error;
  }
}

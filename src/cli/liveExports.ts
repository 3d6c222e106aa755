// Exports that go along with a run for as long as this program follows it: --export.
import { exitCodes, isCancelled, UserError } from '../core/base/errors.js';
import { sharedAbort } from '../core/base/lifecycle.js';
import type { RunEntry } from '../core/contracts/agentApi.js';
import { trackerFor } from '../core/export/places/destination.js';
import { exportRun } from '../core/export/exportRun.js';
import type { Tracker } from '../core/export/tracker.js';
import type { Args, Flag } from './args.js';
import type { Context } from './context.js';
import { destinationIn, howToUpload } from './destinations.js';
import { errorWords } from './remedies.js';

export const exportFlags: readonly Flag[] = [
  {
    name: 'export',
    value: 'TRACKER=PLACE',
    help: 'send its figures along while it is followed: mlflow=URI, wandb=FOLDER, csv=FILE or json=FILE; may be given more than once',
  },
];

interface OneExport {
  /** What somebody wrote. */
  text: string;
  tracker: Tracker;
}

/** Of one run. */
export class LiveExports {
  private readonly abort = sharedAbort();
  private work: Promise<number[]> = Promise.resolve([]);

  private constructor(
    private readonly context: Context,
    private readonly exports: readonly OneExport[],
  ) {}

  /**
   * Those that are asked for, once each of them can be reached: a run is not started before.
   * UserError, Cancelled.
   */
  static async of(context: Context, args: Args): Promise<LiveExports> {
    const { output, cwd } = context;
    const texts = args.all('export');
    if (texts.length > 0 && args.has('detach')) {
      const hint = 'Leave one of them out; an export later is: trainyard export RUN --to TRACKER --follow';
      throw new UserError('usage', '--export does not go with --detach', hint);
    }
    const destinations = texts.map((text) => destinationIn(text, cwd, process.env));
    const profile = context.currentProfile.name;
    const onNote = (text: string): void => {
      output.note(text);
    };
    const settings = { profile, env: process.env, howToUpload, onNote };
    const exports = destinations.map((destination, index) => ({
      text: texts[index] ?? '',
      tracker: trackerFor(destination, settings),
    }));
    if (exports.length > 0) {
      await context.withProgress(async (progress) => {
        for (const { tracker } of exports) await tracker.demand(progress);
      });
    }
    return new LiveExports(context, exports);
  }

  /** `staleState`: `updated` of the state that an earlier run left in the folder. */
  begin(entry: RunEntry, staleState: number | undefined): void {
    this.work = Promise.all(this.exports.map((one) => this.follow(one, entry, staleState)));
  }

  /**
   * Waits until every export has what the run has, which is over. Ctrl-C gives them up. `code` is
   * the run's exit code; that of an export takes its place where the run ended well.
   */
  async finish(code: number): Promise<number> {
    if (this.exports.length === 0) return code;
    const codes = await this.context.withProgress(async ({ signal, onProgress }) => {
      onProgress('the last figures are exported');
      signal.addEventListener('abort', () => {
        this.leave();
      });
      return this.work;
    });
    return code === exitCodes.done ? Math.max(...codes) : code;
  }

  /** The run goes on, and nobody follows it. */
  leave(): void {
    this.abort.abort();
  }

  private async follow(
    { text, tracker }: OneExport,
    entry: RunEntry,
    staleState: number | undefined,
  ): Promise<number> {
    const { node, output } = this.context;
    const to = text.replace(/=.*/s, '');
    const onNote = (note: string): void => {
      output.note(`export to ${to}: ${note}`);
    };
    try {
      const progress = { signal: this.abort.signal };
      const { place, values } = await exportRun({
        ...{ node, entry, tracker, staleState, progress, onNote },
        follow: true,
      });
      onNote(`${place} has ${values} values`);
      return exitCodes.done;
    } catch (error) {
      if (isCancelled(error)) {
        onNote('given up; what was exported stays, and another export goes on from there');
        return exitCodes.done;
      }
      output.note(`trainyard: error: the export to ${to} ended: ${errorWords(error)}`);
      return error instanceof UserError ? error.exitCode : exitCodes.defect;
    }
  }
}

// What the ranks of a run print, line by line as it comes.
import type { RunDetails } from '../contracts/agentApi.js';
import { ProgressBars } from '../streams/progressBars.js';
import type { ExtraFile } from './run.js';
import { rankOf, runLogs } from './runLogs.js';

/** Ranks whose logs are followed, the first ones; each is a file of its own. */
export const mostRankOutputs = 16;

/** How often the state of a progress bar is given, in milliseconds. */
export const progressEvery = { terminal: 3000, other: 10_000 } as const;

/**
 * The logs of the first ranks, for a `RunFollower`. `onText` gets lines without their newline, and
 * at the end what a rank printed after its last one. Of a progress bar it gets the newest state
 * each `every` milliseconds. `before` has the bytes that an earlier run left in each file, which
 * are not shown.
 */
export const outputFiles =
  (
    onText: (rank: number, text: string) => void,
    before: Readonly<Record<string, number>> = {},
    every: number = progressEvery.other,
  ): ((details: RunDetails) => ExtraFile[]) =>
  ({ files }) =>
    runLogs(files).flatMap(({ file, source }) => {
      const rank = rankOf(source);
      if (rank === undefined || rank >= mostRankOutputs) return [];
      const bars = new ProgressBars((text) => {
        onText(rank, text);
      }, every);
      return [{ name: file, start: before[file] ?? 0, ...barCallbacks(bars) }];
    });

/** What a `RunFollower` calls for a log that `bars` shows. */
export const barCallbacks = (bars: ProgressBars): Required<Omit<ExtraFile, 'name' | 'start'>> => ({
  onLine: ({ text }) => {
    bars.line(text);
  },
  onUnfinished: (text) => {
    bars.line(text);
  },
  onProgress: (text) => {
    bars.unfinished(text);
  },
  onReset: () => undefined,
});

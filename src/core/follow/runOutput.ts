// What the ranks of a run print, line by line as it comes.
import type { RunDetails } from '../contracts/agentApi.js';
import type { ExtraFile } from './run.js';
import { rankOf, runLogs } from './runLogs.js';

/** Ranks whose logs are followed, the first ones; each is a file of its own. */
export const mostRankOutputs = 16;

/**
 * The logs of the first ranks, for a `RunFollower`. `onText` gets lines without their newline, and
 * at the end what a rank printed after its last one. `before` has the bytes that an earlier run
 * left in each file, which are not shown.
 */
export const outputFiles =
  (
    onText: (rank: number, text: string) => void,
    before: Readonly<Record<string, number>> = {},
  ): ((details: RunDetails) => ExtraFile[]) =>
  ({ files }) =>
    runLogs(files).flatMap(({ file, source }) => {
      const rank = rankOf(source);
      if (rank === undefined || rank >= mostRankOutputs) return [];
      const give = (text: string): void => {
        onText(rank, text);
      };
      const onLine = ({ text }: { text: string }): void => {
        give(text);
      };
      return [{ name: file, start: before[file] ?? 0, onLine, onUnfinished: give, onReset: () => undefined }];
    });

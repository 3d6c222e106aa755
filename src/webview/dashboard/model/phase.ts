// What the page as a whole has to say, before any chart.
import { count, duration } from './format.js';
import type { PageModel } from './model.js';

export type PageState = 'connecting' | 'problem' | 'lost' | 'over' | 'waiting' | 'command' | 'live';

/**
 * A command that is not the trainer's writes no step lines; unless it does, and then they are
 * shown.
 */
const isCommand = ({ head, steps }: PageModel): boolean =>
  head?.program === 'command' && head.status !== 'starting' && steps.step.length === 0;

export function pageState(model: PageModel, problem: string | undefined): PageState {
  if (problem !== undefined) return 'problem';
  if (!model.head) return 'connecting';
  if (model.connection.state === 'lost' && !model.head.over) return 'lost';
  if (isCommand(model)) return 'command';
  if (model.head.over) return 'over';
  return model.steps.step.length === 0 ? 'waiting' : 'live';
}

/** Ends a sentence that says what is not there: more may come while the run is not over. */
export const yet = ({ head }: Pick<PageModel, 'head'>): string => (head?.over === true ? '' : ' yet');

/** A checkpoint may come before the first step line. */
const hasTrained = ({ progress }: PageModel): boolean => (progress?.step ?? 0) > 0;

/**
 * Instead of charts: one line that says why there are none. Undefined where there is something to
 * draw.
 */
export function instead(model: PageModel): string | undefined {
  const { head } = model;
  if (!head || model.steps.step.length > 0) return undefined;
  if (isCommand(model)) {
    const become = 'Event files of TensorBoard and lines of metrics.jsonl in its run folder become charts';
    return `This command reported no figures${yet(model)}. ${become} (docs/own-metrics.md).`;
  }
  if (head.over) {
    const ended = `The run ${head.status === 'interrupted' ? 'was interrupted' : head.status}`;
    return hasTrained(model)
      ? `${ended} at step ${count(model.progress?.step ?? 0)}, before its first figures, which the trainer writes every so many steps (--log-every).`
      : `${ended} before its first step.`;
  }
  const model_ = head.model === null ? '' : ` ${head.model}`;
  switch (head.status) {
    case 'queued':
      return 'In the queue, without its nodes or GPUs yet. Charts appear with the first step.';
    case 'starting':
      return `Starting${model_}: the ranks are not up yet. Charts appear with the first step.`;
    case 'stopping':
      return 'Stopping before the first step.';
    case 'evaluating':
      return `Evaluating${model_}: there are no training steps to chart.`;
    case 'running':
    case 'unknown':
    case 'finished':
    case 'stopped':
    case 'failed':
    case 'interrupted':
      if (hasTrained(model)) {
        return `Training${model_}, at step ${count(model.progress?.step ?? 0)}. Charts appear with the first figures, which the trainer writes every so many steps (--log-every).`;
      }
      return head.model === null
        ? 'The ranks are up and prepare. Charts appear with the first step.'
        : `Loading data for${model_}. Charts appear with the first step.`;
  }
}

/** `lost 8 s ago, trying again`. */
export const lostFor = (model: PageModel, now: number): string =>
  `Connection lost ${duration(now - model.connection.since)} ago, trying again. The figures are from before that.`;

/** Figures fade from this age on, seconds. */
const staleAfter = 5;

/** So many times the usual distance of figures is too long. */
const missedLines = 2;
/** Distances that tell the usual one. */
const recentLines = 5;

/**
 * How old figures of this time are, when too old to pass as current. `over`: they are the last
 * there will be. `usual`: seconds between two of them.
 */
export function staleness(
  newest: number | undefined,
  now: number,
  over: boolean,
  usual = 0,
): number | undefined {
  if (newest === undefined || over) return undefined;
  const age = now - newest;
  return age > Math.max(staleAfter, missedLines * usual) ? age : undefined;
}

/**
 * The longest distance of late between two lines of a rank, the first from its start on; seconds.
 */
export function usualDistance({ marks }: Pick<PageModel, 'marks'>, times: readonly number[]): number {
  const begins = (kind: string): boolean => kind === 'start' || kind === 'restart' || kind === 'resume';
  const start = marks.findLast(({ kind }) => begins(kind))?.time ?? Infinity;
  const since = times.slice(-recentLines - 1).filter((time) => time >= start || start === Infinity);
  const all = start === Infinity || since.length > recentLines ? since : [start, ...since];
  return all.reduce((longest, time, index) => Math.max(longest, time - (all[index - 1] ?? time)), 0);
}

// What the x axis of an own program's charts counts: time, or the program's own steps.
import type { FigureSeries, Mark } from '../../protocol.js';
import { between, lastAtMost, lastOf } from '../elements/sampling.js';
import type { XAxis } from '../model/viewState.js';

export interface FigureAxis {
  kind: 'time' | 'step';
  /** Of a time in seconds since the epoch: the seconds of run time. It never falls. */
  runTime: (time: number) => number;
}

/** Whether the steps of any curve rise: a program may report all its figures at one step. */
export const countsSteps = (figures: readonly FigureSeries[]): boolean =>
  figures.some(({ step }) => (step.at(-1) ?? 0) > (step[0] ?? 0));

/** Of the axes that the page has, the one that these figures have too. */
export const figureAxis = (
  asked: XAxis,
  figures: readonly FigureSeries[],
  runTime: FigureAxis['runTime'],
): FigureAxis => ({
  kind: asked === 'step' && countsSteps(figures) ? 'step' : 'time',
  runTime,
});

/** Where the rows of a curve stand on the axis; they rise. */
export const places = ({ step, time }: FigureSeries, { kind, runTime }: FigureAxis): number[] =>
  kind === 'step' ? step : time.map(runTime);

/** The newest row at a place of the axis, -1 where there is none. */
export const rowAt = ({ step, time }: FigureSeries, { kind, runTime }: FigureAxis, at: number): number =>
  kind === 'step' ? lastAtMost(step, at) : lastOf(time.length, (row) => runTime(time[row] ?? Infinity) <= at);

/** All that the axis shows without a zoom. */
export function wholeRange(
  figures: readonly FigureSeries[],
  { kind, runTime }: FigureAxis,
): [number, number] {
  if (kind === 'time') {
    const last = figures.reduce((latest, { time }) => Math.max(latest, time.at(-1) ?? 0), 0);
    return [0, Math.max(1, runTime(last))];
  }
  const first = figures.reduce((least, { step }) => Math.min(least, step[0] ?? Infinity), Infinity);
  const last = figures.reduce((most, { step }) => Math.max(most, step.at(-1) ?? -Infinity), -Infinity);
  return [first, Math.max(first + 1, last)];
}

/** Where a mark stands, in steps by those of the curve around its time. */
export function markAt({ time, step }: Mark, { kind, runTime }: FigureAxis, near: FigureSeries): number {
  return kind === 'time' ? runTime(time) : (step ?? between(near.time, near.step, time));
}

// What a chart's x axis is made of.
import type uPlot from 'uplot';
import { html, nothing, type TemplateResult } from 'lit';
import { axisTime, count, duration, plural } from '../model/format.js';
import type { Cut } from '../model/model.js';
import type { XAxis } from '../model/viewState.js';

/** Distances between ticks of the time axis that people can count in. */
const tickSteps = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
  86_400, 172_800, 604_800,
];

/** Steps are whole: 1, 2, 5, 10, 20, 50 and so on. */
const wholeSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

export const fontSize = 11;

/** What the x axes are called, on the page and in saved images. */
export const axisNames: Record<XAxis, string> = { time: 'run time', step: 'step', epoch: 'epoch' };

/** What run time is, in the comparison too. */
export const runTimeTitle =
  'Run time is how long the run held its nodes: the time between a stop and a resume is left out';

/** What stands beside the choice of the axis: how much run time leaves out. Nothing without pauses. */
export function cutsNote(axis: XAxis, cuts: readonly Cut[]): TemplateResult | typeof nothing {
  if (axis !== 'time' || cuts.length === 0) return nothing;
  const left = duration(cuts.reduce((sum, { seconds }) => sum + seconds, 0));
  const text = cuts.length === 1 ? `a pause of ${left}` : `${plural(cuts.length, 'pause')}, ${left} in all,`;
  return html`<span class="quiet cuts" title=${runTimeTitle}>${text} left out</span>`;
}

/** The distances between ticks to choose from, and a tick's text. `range`: what the axis shows. */
export function xTicks(
  axis: XAxis,
  range: () => readonly [number, number],
): { steps?: number[]; text: (value: number, step: number) => string } {
  switch (axis) {
    case 'time':
      return { steps: tickSteps, text: (value, step) => axisTime(value, step, range()) };
    case 'step':
      return {
        steps: wholeSteps,
        text: (value) => (value >= 1e5 ? `${count(value / 1000)}k` : count(value)),
      };
    case 'epoch':
      return { text: (value) => String(+value.toPrecision(6)) };
  }
}

/** The same, as parts of uPlot's x axis. */
export function plotTicks(...asked: Parameters<typeof xTicks>): Pick<uPlot.Axis, 'incrs' | 'values'> {
  const { steps, text } = xTicks(...asked);
  return {
    ...(steps ? { incrs: steps } : {}),
    values: (_plot, splits, _index, _space, step) => splits.map((value) => text(value, step)),
  };
}

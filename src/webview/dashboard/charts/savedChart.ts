// A chart of the training as it is saved: what its image shows, and its figures.
import type { ChartGroup } from './chartGroup.js';
import { shownPoints, type ChartSpec } from './chartSpecs.js';
import { rawAlpha } from './tints.js';
import { axisNames, xTicks } from './timeAxis.js';
import type { XAxis } from '../model/viewState.js';
import type { ChartPicture, ImageLine } from '../save/chartImage.js';
import { csvOf } from '../save/csv.js';

/** An x axis of the dashboard. */
export const imageAxis = (axis: XAxis, range: [number, number]): ChartPicture['x'] => ({
  name: axisNames[axis],
  range,
  ...xTicks(axis, () => range),
});

/** As it stands on the page: the same ranges, smoothing and kind of y axis. */
export function pictureOf(spec: ChartSpec, group: ChartGroup, yRange: [number, number]): ChartPicture {
  const { data, palette, range } = group;
  return {
    title: spec.title,
    palette,
    x: imageAxis(data.axis, range),
    y: { range: yRange, text: spec.axis, log: spec.canLog === true && group.logLoss },
    lines: [...(spec.stacked ? layers(spec, group) : curves(spec, group)), ...evaluations(spec, group)],
  };
}

function curves(spec: ChartSpec, { data, palette, smoothing }: ChartGroup): ImageLine[] {
  return spec.lines.flatMap(({ key, label, color, smoothed }): ImageLine[] => {
    const measured = { color, x: data.x, y: data.line(key) };
    if (!smoothed || smoothing === 0) return [{ ...measured, label }];
    return [
      { ...measured, opacity: rawAlpha(palette) },
      { label, color, x: data.x, y: data.smoothed(key) },
    ];
  });
}

/** The highest layer first: each is filled down to zero, and covers what lies below it. */
function layers(spec: ChartSpec, { data }: ChartGroup): ImageLine[] {
  return spec.lines
    .map(({ label, color }, index): ImageLine => {
      return { label, color, filled: true, x: data.x, y: data.stack[index] ?? [] };
    })
    .reverse();
}

function evaluations(spec: ChartSpec, { data, model }: ChartGroup): ImageLine[] {
  const x = model.evaluations.map((evaluation) => data.xOf(evaluation));
  return shownPoints(spec, model).map(({ label, color, value }) => {
    return { label, color, x, y: model.evaluations.map(value) };
  });
}

/**
 * All rows as measured, oldest first, with seconds of run time, step and epoch. Rows of
 * evaluations have their own columns, and stand where their time is.
 */
export function figuresOf(spec: ChartSpec, { data, model }: ChartGroup): string {
  const points = shownPoints(spec, model);
  const head = [
    'seconds',
    'step',
    'epoch',
    ...spec.lines.map(({ label }) => label),
    ...points.map(({ label }) => label),
  ];
  const { time, step, epoch } = data.steps;
  const steps = time.map((at, row) => ({
    at,
    cells: [
      data.seconds(row),
      step[row],
      epoch[row],
      ...spec.lines.map(({ key }) => data.line(key)[row]),
      ...points.map(() => null),
    ],
  }));
  const evaluated = points.length === 0 ? [] : model.evaluations;
  const others = evaluated.map((evaluation) => ({
    at: evaluation.time,
    cells: [
      Math.max(0, model.runTime(evaluation.time)),
      evaluation.step,
      null,
      ...spec.lines.map(() => null),
      ...points.map(({ value }) => value(evaluation)),
    ],
  }));
  return csvOf(
    head,
    [...steps, ...others].sort((a, b) => a.at - b.at).map(({ cells }) => cells),
  );
}

// A chart of an own program's figures as it is saved: what its image shows, and its figures.
import { places, type FigureAxis } from './figureAxis.js';
import { colorOf, lineLabel, type FigureChart } from './figureGroups.js';
import { tickText, type FigureView } from './figurePlot.js';
import type { ChartPicture } from '../save/chartImage.js';
import { csvOf } from '../save/csv.js';
import { imageAxis } from './savedChart.js';

/** As it stands on the page, in the same ranges. */
export function figurePicture(
  { chart, axis, range, palette }: FigureView,
  yRange: [number, number],
): ChartPicture {
  return {
    title: chart.tag,
    palette,
    x: imageAxis(axis.kind, range),
    y: { range: yRange, text: tickText },
    lines: chart.series.map((series, index) => ({
      label: lineLabel(chart, series),
      color: colorOf(index),
      x: places(series, axis),
      y: series.value,
    })),
  };
}

/**
 * All rows, oldest first, one writer after another, with seconds of run time. Rows of a long curve
 * are merged: `value` is then a mean, which `min` and `max` bound.
 */
export function figureCsv({ series }: FigureChart, runTime: FigureAxis['runTime']): string {
  const rows = series.flatMap(({ writer, time, step, value, min, max }) =>
    time.map((at, row) => [writer, runTime(at), step[row], value[row], min[row], max[row]]),
  );
  return csvOf(['writer', 'seconds', 'step', 'value', 'min', 'max'], rows);
}

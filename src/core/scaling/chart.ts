// Charts of a scaling report as SVG inside its page. Colours are the page's.
import { plural } from '../base/plural.js';
import { rateText } from './pageTables.js';
import type { ScalingReport } from './report.js';
import type { ScaledPoint, Shares } from './series.js';

/** Units of the drawing; the page scales it. */
const size = { width: 640, height: 300, left: 70, right: 20, top: 16, bottom: 44 };

interface Dot {
  replicas: number;
  value: number;
  low: number;
  high: number;
}

const text = (x: number, y: number, said: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${said}</text>`;

/** Images/s over replicas, both in powers of two, with the ideal line. Empty without points. */
export function rateChart({ weak, strong, predictions }: ScalingReport): string {
  const dots = (series: readonly ScaledPoint[]): Dot[] =>
    series.map(({ point: { replicas, imagesPerSec } }) => {
      return { replicas, value: imagesPerSec.median, low: imagesPerSec.low, high: imagesPerSec.high };
    });
  const measured = [
    { name: 'weak scaling', style: 'weak', dots: dots(weak) },
    { name: 'strong scaling', style: 'strong', dots: dots(strong) },
  ].filter((series) => series.dots.length > 0);
  const first = measured[0]?.dots[0];
  if (!first) return '';
  const ahead = predictions.map(({ replicas, imagesPerSec: value, low, high }) => ({
    replicas,
    value,
    low,
    high,
  }));
  const predicted = { name: 'prediction', style: 'predicted', dots: ahead };
  const all = [...measured, ...(ahead.length > 0 ? [predicted] : [])];
  const every = all.flatMap((series) => series.dots);
  const most = Math.max(2, ...every.map(({ replicas }) => replicas));
  const ideal = (replicas: number): number => (first.value / first.replicas) * replicas;
  const highest = Math.max(ideal(most), ...every.map(({ high }) => high)) * 1.1;
  const lowest = Math.min(...every.map(({ low }) => low)) * 0.9;
  const x = scale(1, most, size.left, size.width - size.right);
  const y = scale(lowest, highest, size.height - size.bottom, size.top);
  const parts = [
    ...marks(most).map((at) => axisMark(x(at), String(at))),
    ...rateMarks(lowest, highest).map((value) => {
      const line = `<line class="grid" x1="${size.left}" x2="${size.width - size.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>`;
      return line + text(size.left - 6, y(value) + 4, rateText(value), ' text-anchor="end"');
    }),
    `<line class="ideal" x1="${x(first.replicas).toFixed(1)}" y1="${y(first.value).toFixed(1)}" x2="${x(most).toFixed(1)}" y2="${y(ideal(most)).toFixed(1)}"/>`,
    ...all.map(({ style, dots: own }) => lineOf(style, own, x, y)),
    text(size.width / 2, size.height - 6, 'replicas', ' text-anchor="middle"'),
  ];
  return figureOf('Images/s over replicas', size.height, parts, [
    ...all.map(({ name, style }) => ({ name, style })),
    { name: 'ideal', style: 'ideal' },
  ]);
}

function lineOf(
  style: string,
  dots: readonly Dot[],
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const at = (value: number): string => value.toFixed(1);
  const path = dots.map(({ replicas, value }) => `${at(x(replicas))},${at(y(value))}`).join(' ');
  return [
    `<polyline class="line ${style}" points="${path}"/>`,
    ...dots.flatMap(({ replicas, value, low, high }) => [
      `<line class="spread ${style}" x1="${at(x(replicas))}" x2="${at(x(replicas))}" y1="${at(y(low))}" y2="${at(y(high))}"/>`,
      `<circle class="dot ${style}" cx="${at(x(replicas))}" cy="${at(y(value))}" r="4"><title>${plural(replicas, 'replica')}: ${rateText(value)} images/s (${rateText(low)} to ${rateText(high)})</title></circle>`,
    ]),
  ].join('');
}

const partsOfStep: readonly (keyof Shares)[] = ['compute', 'communication', 'input'];

/** Where the time of a step goes, a bar for each point. Empty without points. */
export function shareChart(title: string, series: readonly ScaledPoint[]): string {
  if (series.length === 0) return '';
  const row = 34;
  const [from, to] = [120, size.width - size.right];
  const bars = series.flatMap(({ point, shares }, at) => {
    let x = from;
    const y = 8 + at * row;
    return [
      text(from - 8, y + 17, plural(point.replicas, 'replica'), ' text-anchor="end"'),
      ...partsOfStep.map((part) => {
        const width = (to - from) * shares[part];
        const percent = `${(100 * shares[part]).toFixed(1)}%`;
        const bar = `<rect class="${part}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="24"><title>${part}: ${percent} of ${point.stepMs.median.toPrecision(3)} ms</title></rect>`;
        const label =
          width < 48 ? '' : text(x + width / 2, y + 16, percent, ' class="onBar" text-anchor="middle"');
        x += width;
        return bar + label;
      }),
    ];
  });
  const legend = partsOfStep.map((part) => ({ name: part, style: part }));
  return figureOf(title, 12 + series.length * row, bars, legend);
}

function figureOf(
  title: string,
  height: number,
  parts: readonly string[],
  legend: readonly { name: string; style: string }[],
): string {
  const keys = legend.map(({ name, style }) => `<span class="key"><i class="${style}"></i>${name}</span>`);
  return `<figure tabindex="0" aria-label="${title}"><figcaption>${title} ${keys.join('')}</figcaption><svg role="img" aria-label="${title}" viewBox="0 0 ${size.width} ${height}">${parts.join('')}</svg></figure>`;
}

/** Logarithmic. */
function scale(low: number, high: number, from: number, to: number): (value: number) => number {
  return (value) =>
    from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
}

function axisMark(x: number, said: string): string {
  const [top, bottom] = [size.top, size.height - size.bottom];
  const line = `<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top}" y2="${bottom}"/>`;
  return line + text(x, bottom + 16, said, ' text-anchor="middle"');
}

/** Powers of two, at most about ten of them. */
function marks(most: number): number[] {
  const powers = Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, at) => 2 ** at);
  const every = Math.ceil(powers.length / 10);
  return powers.filter((_, at) => at % every === 0);
}

/** 1, 2 and 5 times powers of ten. */
function rateMarks(low: number, high: number): number[] {
  const found: number[] = [];
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : decades > 1 ? [1, 5] : [1, 2, 3, 5, 7];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

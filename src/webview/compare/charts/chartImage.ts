// A chart as an image of its own, with its title and the names of its runs: SVG, or PNG made of it.
import type { Palette } from '../../dashboard/elements/theme.js';
import { axisNames, type ChartLine } from '../model/curves.js';
import { yRangeOf, yTick, type PlotView } from './comparePlot.js';

const width = 960;
const plotHeight = 400;
const left = 64;
const right = 16;
const top = 44;
const lineHeight = 20;
const inRow = 3;
/** How many times as many pixels a PNG has. */
const scale = 2;

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0) ?? 32};`);

/** Round numbers from `low` to `high`, about `wanted` of them. */
function ticks(low: number, high: number, wanted: number): number[] {
  const raw = (high - low) / wanted;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** A whole SVG document, in the colours of the theme. */
export function svgOf(view: PlotView): string {
  const { chart, axis, range, palette } = view;
  const [low, high] = yRangeOf(view);
  const x = (at: number): number => left + ((at - range[0]) / (range[1] - range[0])) * (width - left - right);
  const y = (value: number): number => top + plotHeight - ((value - low) / (high - low)) * plotHeight;
  const rows = Math.ceil(chart.lines.length / inRow);
  const height = top + plotHeight + 48 + rows * lineHeight + 12;
  const text = (at: number, down: number, words: string, more = ''): string =>
    `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escape(words)}</text>`;
  const grid = (x1: number, y1: number, x2: number, y2: number): string =>
    `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${escape(palette.foreground)}" stroke-opacity="0.15"/>`;
  const xs = ticks(range[0], range[1], 8);
  const ys = ticks(low, high, 6);
  const foot = top + plotHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${escape(palette.foreground)}">`,
    `<title>${escape(chart.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${escape(palette.background)}"/>`,
    text(left, 26, chart.title, 'font-size="16" font-weight="600"'),
    ...ys.flatMap((value) => [
      grid(left, y(value), width - right, y(value)),
      text(left - 8, y(value) + 4, yTick(chart.name, value), 'text-anchor="end"'),
    ]),
    ...xs.flatMap((at) => [
      grid(x(at), top, x(at), foot),
      text(x(at), foot + 18, at.toLocaleString('en-US'), 'text-anchor="middle"'),
    ]),
    text((left + width - right) / 2, foot + 38, axisNames[axis], 'text-anchor="middle"'),
    `<clipPath id="plot"><rect x="${left}" y="${top}" width="${width - left - right}" height="${plotHeight}"/></clipPath>`,
    `<g clip-path="url(#plot)" fill="none" stroke-width="2" stroke-linejoin="round">`,
    ...chart.lines.map((line) => `<path d="${pathOf(line, x, y)}" ${strokeOf(line, palette)}/>`),
    '</g>',
    ...chart.lines.map((line, index) => {
      const at = left + (index % inRow) * ((width - left - right) / inRow);
      const down = foot + 60 + Math.floor(index / inRow) * lineHeight;
      return `<path d="M${at} ${down - 4}h28" fill="none" stroke-width="2.5" ${strokeOf(line, palette)}/>${text(at + 36, down, line.label)}`;
    }),
    '</svg>',
  ].join('\n');
}

const strokeOf = ({ color, dash }: ChartLine, palette: Palette): string =>
  `stroke="${escape(palette.charts[color])}"${dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`}`;

function pathOf(line: ChartLine, x: (at: number) => number, y: (value: number) => number): string {
  let begun = false;
  return line.x
    .map((at, index) => {
      const value = line.y[index] ?? null;
      if (value === null) {
        begun = false;
        return '';
      }
      const command = begun ? 'L' : 'M';
      begun = true;
      return `${command}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

/** The SVG drawn on a canvas: base64. */
export async function pngOf(document_: string): Promise<string> {
  const image = new Image();
  const drawn = new Promise<void>((resolve, reject) => {
    image.onload = () => {
      resolve();
    };
    image.onerror = () => {
      reject(new Error('the browser could not draw the chart as an image'));
    };
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(document_)}`;
  await drawn;
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('the browser gives no canvas to draw the chart on');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}

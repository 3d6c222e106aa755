// A chart as an image of its own, with its title and the names of its lines: SVG, or PNG made of it.
import type { ChartColor, Palette } from '../elements/colors.js';

export interface ImageLine {
  /** What stands beside it below the chart; a line without a label is drawn only. */
  label?: string;
  color: ChartColor;
  /** Lengths of strokes and gaps, as canvas has them; empty for a solid line. */
  dash?: readonly number[];
  /** From 0 to 1; 1 where it is absent. */
  opacity?: number;
  /** Filled down to the x axis, over what was drawn before it. */
  filled?: boolean;
  x: readonly number[];
  /** As long as `x`; null breaks the line. */
  y: readonly (number | null)[];
}

interface ImageAxis {
  range: readonly [number, number];
  /** Distances between ticks to choose from, rising; 1, 2 and 5 times powers of ten without them. */
  steps?: readonly number[];
  /** A tick's text; `step` is the distance to the next one. */
  text: (value: number, step: number) => string;
}

/** All that an image of a chart shows. */
export interface ChartPicture {
  title: string;
  palette: Palette;
  x: ImageAxis & { name: string };
  /** A logarithmic one leaves values of 0 or less out. */
  y: ImageAxis & { log?: boolean };
  /** Drawn in this order. */
  lines: readonly ImageLine[];
}

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

interface Ticks {
  at: number[];
  step: number;
}

/** Round numbers within the range, about `wanted` of them. */
function ticks({ range: [low, high], steps }: ImageAxis, wanted: number): Ticks {
  const raw = (high - low) / wanted;
  if (!(raw > 0) || !Number.isFinite(raw)) return { at: [low], step: 0 };
  const power = 10 ** Math.floor(Math.log10(raw));
  const round = ([1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999) ?? 10) * power;
  const step = steps?.find((each) => each >= raw * 0.999) ?? round;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const at = Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
  return { at, step };
}

/** Of a logarithmic axis: powers of ten, or more round numbers where few of them are in sight. */
function logTicks(axis: ImageAxis): Ticks {
  const [low, high] = axis.range;
  const powers = Array.from(
    { length: Math.floor(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 },
    (_, index) => 10 ** (Math.floor(Math.log10(low)) + index),
  );
  const inSight = (digits: number[]): number[] =>
    powers
      .flatMap((power) => digits.map((digit) => Number((digit * power).toPrecision(3))))
      .filter((value) => value >= low && value <= high);
  const at = [inSight([1]), inSight([1, 2, 5])].find(({ length }) => length >= 3);
  return at ? { at, step: 0 } : ticks(axis, 6);
}

type Place = (value: number) => number;

/** A whole SVG document, in the colours of the theme. */
export function svgOf({ title, palette, x: xAxis, y: yAxis, lines }: ChartPicture): string {
  const log = yAxis.log === true;
  const [low, high] = yAxis.range;
  const [begin, end] = xAxis.range;
  const scaled = log ? Math.log10 : (value: number): number => value;
  const x: Place = (at) => left + ((at - begin) / (end - begin)) * (width - left - right);
  const y: Place = (value) =>
    top + plotHeight - ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low))) * plotHeight;
  const foot = top + plotHeight;
  const named = lines.filter(({ label }) => label !== undefined);
  const height = foot + 48 + Math.ceil(named.length / inRow) * lineHeight + 12;
  const text = (at: number, down: number, words: string, more = ''): string =>
    `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escape(words)}</text>`;
  const grid = (x1: number, y1: number, x2: number, y2: number): string =>
    `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${escape(palette.foreground)}" stroke-opacity="0.15"/>`;
  const heights = log ? logTicks(yAxis) : ticks(yAxis, 6);
  const places = ticks(xAxis, 8);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${escape(palette.foreground)}">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${escape(palette.background)}"/>`,
    text(left, 26, title, 'font-size="16" font-weight="600"'),
    ...heights.at.flatMap((value) => [
      grid(left, y(value), width - right, y(value)),
      text(left - 8, y(value) + 4, yAxis.text(value, heights.step), 'text-anchor="end"'),
    ]),
    ...places.at.flatMap((at) => [
      grid(x(at), top, x(at), foot),
      text(x(at), foot + 18, xAxis.text(at, places.step), 'text-anchor="middle"'),
    ]),
    text((left + width - right) / 2, foot + 38, xAxis.name, 'text-anchor="middle"'),
    `<clipPath id="plot"><rect x="${left}" y="${top}" width="${width - left - right}" height="${plotHeight}"/></clipPath>`,
    `<g clip-path="url(#plot)" fill="none" stroke-width="2" stroke-linejoin="round">`,
    ...lines.flatMap((line) => {
      const shown = log
        ? { ...line, y: line.y.map((value) => (value !== null && value > 0 ? value : null)) }
        : line;
      const path = pathOf(shown, x, y);
      const area = `<path d="${areaOf(shown, x, y, foot)}" stroke="none" fill="${escape(palette.charts[line.color])}"/>`;
      return [...(line.filled === true ? [area] : []), `<path d="${path}" ${strokeOf(line, palette)}/>`];
    }),
    '</g>',
    ...named.map((line, index) => {
      const at = left + (index % inRow) * ((width - left - right) / inRow);
      const down = foot + 60 + Math.floor(index / inRow) * lineHeight;
      return `<path d="M${at} ${down - 4}h28" fill="none" stroke-width="2.5" ${strokeOf(line, palette)}/>${text(at + 36, down, line.label ?? '')}`;
    }),
    '</svg>',
  ].join('\n');
}

const strokeOf = ({ color, dash = [], opacity = 1 }: ImageLine, palette: Palette): string =>
  [
    `stroke="${escape(palette.charts[color])}"`,
    ...(dash.length === 0 ? [] : [`stroke-dasharray="${dash.join(' ')}"`]),
    ...(opacity === 1 ? [] : [`stroke-opacity="${opacity}"`]),
  ].join(' ');

function pathOf(line: ImageLine, x: Place, y: Place): string {
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

/** The line without its gaps, closed along the x axis. */
function areaOf(line: ImageLine, x: Place, y: Place, foot: number): string {
  const at = line.x.filter((_, index) => (line.y[index] ?? null) !== null);
  const height = line.y.filter((value) => value !== null);
  const [first, last] = [at[0], at.at(-1)];
  if (first === undefined || last === undefined) return '';
  const along = pathOf({ color: line.color, x: at, y: height }, x, y);
  return `${along}L${x(last).toFixed(1)} ${foot}L${x(first).toFixed(1)} ${foot}Z`;
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

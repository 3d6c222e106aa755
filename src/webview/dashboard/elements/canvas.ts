// Small canvases: sized to the screen's pixels, and the lines drawn on them.
import type { Figure } from '../../protocol.js';
import { lastAtMost } from './sampling.js';

/** The canvas fitted to its box; undefined while it has none. */
export function prepare(canvas: HTMLCanvasElement): CanvasRenderingContext2D | undefined {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  const context = canvas.getContext('2d');
  if (width === 0 || height === 0 || !context) return undefined;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  else context.clearRect(0, 0, width, height);
  return context;
}

export interface Spark {
  values: readonly Figure[];
  color: string;
}

/** Lines over `time` in [low, high], values from 0 to `top`. */
export function drawSparks(
  canvas: HTMLCanvasElement,
  time: readonly number[],
  [low, high]: readonly [number, number],
  top: number,
  sparks: readonly Spark[],
): void {
  const context = prepare(canvas);
  if (!context) return;
  const { width, height } = canvas;
  const room = devicePixelRatio;
  const first = Math.max(0, lastAtMost(time, low));
  const last = lastAtMost(time, high);
  context.lineWidth = 1.25 * devicePixelRatio;
  context.lineJoin = 'round';
  for (const { values, color } of sparks) {
    context.strokeStyle = color;
    context.beginPath();
    let begun = false;
    for (let index = first; index <= last; index++) {
      const value = values[index] ?? null;
      if (value === null) {
        begun = false;
        continue;
      }
      const left = (((time[index] ?? 0) - low) / (high - low)) * width;
      const y = height - room - (Math.min(top, value) / top) * (height - 2 * room);
      if (begun) context.lineTo(left, y);
      else context.moveTo(left, y);
      begun = true;
    }
    context.stroke();
  }
}

// figures.jsonl as it is followed.
import { check } from '../base/validation.js';
import { figureSchema, type FigureLine } from '../contracts/figureSchema.js';
import type { ExtraFile } from './run.js';

/** In the run's folder. */
export const figuresFile = 'figures.jsonl';

/** The figure in a line; undefined for a line that is none. */
export function parseFigure(text: string): FigureLine | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined; // a line that was cut off by a full disk
  }
  const result = check(figureSchema, raw);
  return result.ok ? result.data : undefined;
}

/** Follows the file from its start; `onFigure` gets the byte at which a line stands. */
export const figureFile = (
  onFigure: (line: FigureLine, offset: number) => void,
  onReset: () => void,
): ExtraFile => ({
  name: figuresFile,
  start: 0,
  onLine: ({ offset, text }) => {
    const line = parseFigure(text);
    if (line) onFigure(line, offset);
  },
  onReset,
});

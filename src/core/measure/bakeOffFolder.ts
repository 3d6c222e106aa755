// The folder of a bake-off: bakeoff.json with every candidate, and the pages that are made of it.
import { bakeOffHtml, bakeOffMarkdown } from '../bakeoff/pages.js';
import { imagesPerSecOf, type BakeOffResult } from '../bakeoff/result.js';
import { writePages } from './pagesFolder.js';

/** The page of a bake-off, in its folder. */
export const bakeOffPage = 'bakeoff.html';

/** Writes data and pages, each whole or not at all. UserError (preflight) where that fails. */
export function writeBakeOff(folder: string, result: BakeOffResult): Promise<void> {
  const candidates = result.candidates.map(({ rates, ...one }) => ({
    ...one,
    imagesPerSec: imagesPerSecOf({ rates }) ?? null,
  }));
  return writePages(folder, {
    'bakeoff.md': bakeOffMarkdown(result),
    [bakeOffPage]: bakeOffHtml(result),
    'bakeoff.json': `${JSON.stringify({ ...result, candidates }, null, 1)}\n`,
  });
}

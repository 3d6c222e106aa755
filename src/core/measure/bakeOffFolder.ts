// The folder of a bake-off: bakeoff.json with every candidate, and the pages that are made of it.
import { join } from 'node:path';
import { check } from '../base/validation.js';
import { bakeOffHtml, bakeOffMarkdown } from '../bakeoff/pages.js';
import { bakeOffSchema, sameBakeOff, imagesPerSecOf, type BakeOffResult } from '../bakeoff/result.js';
import { readData, writePages } from './pagesFolder.js';

/** The page of a bake-off, in its folder. */
export const bakeOffPage = 'bakeoff.html';

/** Every candidate of a bake-off, in its folder. */
export const bakeOffData = 'bakeoff.json';

/**
 * The bake-off that the folder has, where it is of the same training and candidates, and measured
 * something. Undefined where there is none, or another one. UserError (usage) where the file cannot
 * be read.
 */
export async function readBakeOff(
  folder: string,
  asked: Parameters<typeof sameBakeOff>[1],
): Promise<BakeOffResult | undefined> {
  const found = await readData(join(folder, bakeOffData));
  const record = check(bakeOffSchema, found);
  return record.ok && sameBakeOff(record.data, asked) ? record.data : undefined;
}

/** Writes data and pages, each whole or not at all. UserError (preflight) where that fails. */
export function writeBakeOff(folder: string, result: BakeOffResult): Promise<void> {
  const candidates = result.candidates.map((one) => ({ ...one, imagesPerSec: imagesPerSecOf(one) ?? null }));
  return writePages(folder, {
    'bakeoff.md': bakeOffMarkdown(result),
    [bakeOffPage]: bakeOffHtml(result),
    [bakeOffData]: `${JSON.stringify({ ...result, candidates }, null, 1)}\n`,
  });
}

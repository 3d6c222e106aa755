// The folder of a report of either kind: what its page is called, and when the report was begun.
import { join } from 'node:path';
import * as z from 'zod/mini';
import { check } from '../base/validation.js';
import type { ReportRecord } from '../contracts/runSchema.js';
import { bakeOffData, bakeOffPage } from './bakeOffFolder.js';
import { readData } from './pagesFolder.js';
import { scalingData, scalingPage } from './scalingFolder.js';
import { sweepData, sweepPage } from './sweepFolder.js';

type ReportKind = ReportRecord['kind'];

/** The HTML page in the folder. */
export const pageOf: Record<ReportKind, string> = {
  scaling: scalingPage,
  bakeoff: bakeOffPage,
  sweep: sweepPage,
};
const dataOf: Record<ReportKind, string> = {
  scaling: scalingData,
  bakeoff: bakeOffData,
  sweep: sweepData,
};

/**
 * When the report in the folder was begun, in seconds since the epoch: `report.begun` in the
 * records of its runs. Undefined where the folder has no such report. UserError (usage) where
 * its file cannot be read.
 */
export async function begunOf(folder: string, kind: ReportKind): Promise<number | undefined> {
  const found = check(z.object({ created: z.number() }), await readData(join(folder, dataOf[kind])));
  return found.ok ? found.data.created : undefined;
}

// The folder of a scaling report: scaling.json with every point, and the pages that are made of it.
import { join } from 'node:path';
import { UserError } from '../base/errors.js';
import { check, problemsText } from '../base/validation.js';
import { scalingHtml } from '../scaling/html.js';
import { scalingMarkdown } from '../scaling/markdown.js';
import type { Setup } from '../scaling/model.js';
import { reportOf, type ScalingReport } from '../scaling/report.js';
import { sameStudy, studySchema, type ScalingStudy } from '../scaling/study.js';
import { readData, writePages } from './pagesFolder.js';

/** The page of a report, in its folder. */
export const scalingPage = 'scaling.html';
/** Every point of a report, in its folder. */
export const scalingData = 'scaling.json';

/**
 * The measurement that the folder has; undefined where it has none. UserError (usage) where it has
 * a file that is none.
 */
export async function readStudy(folder: string): Promise<ScalingStudy | undefined> {
  const path = join(folder, scalingData);
  const raw = await readData(path);
  if (raw === undefined) return undefined;
  const found = check(studySchema, raw);
  if (found.ok) return found.data;
  const what = `${path} is no measurement of scaling: ${problemsText(found.problems)}`;
  throw new UserError('usage', what, 'Choose another folder');
}

/**
 * The measurement that the folder has, where it is the same one as `asked`: it goes on. Else `asked`
 * itself. UserError (usage) where the folder has another one, or a file that is none.
 */
export async function openStudy(folder: string, asked: ScalingStudy): Promise<ScalingStudy> {
  const found = await readStudy(folder);
  if (found === undefined) return asked;
  if (!sameStudy(found, asked)) {
    const { profile, words, steps } = found;
    const what = `${folder} has another measurement: ${words.join(' ')} on ${profile}, ${steps} steps a point`;
    throw new UserError('usage', what, 'Choose another folder, or measure the same');
  }
  return found;
}

/** Writes data and pages, each whole or not at all. UserError (preflight) where that fails. */
export async function writeReport(
  folder: string,
  study: ScalingStudy,
  between?: Setup['between'],
): Promise<ScalingReport> {
  const report = reportOf(study, between);
  const { weak, strong, bottleneck, predictions, leftOut, nextNode, notes } = report;
  const derived = {
    ...{ bottleneck, predictions, leftOut, nextNode, notes },
    efficiency: [...weak, ...strong].map(({ point, efficiency, shares }) => {
      return { mode: point.mode, replicas: point.replicas, efficiency, shares };
    }),
  };
  await writePages(folder, {
    'scaling.md': scalingMarkdown(report),
    [scalingPage]: scalingHtml(report),
    [scalingData]: `${JSON.stringify({ ...study, report: derived }, null, 1)}\n`,
  });
  return report;
}

/** A measurement that has not begun. */
export const newStudy = (profile: string, words: string[], steps: number, now: number): ScalingStudy => ({
  version: 1,
  profile,
  words,
  steps,
  created: now,
  model: null,
  device: null,
  allReduce: null,
  currency: null,
  points: [],
  probe: null,
  failed: [],
  missing: [],
});

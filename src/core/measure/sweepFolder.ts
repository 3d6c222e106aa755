// The folder of a sweep: sweep.json with every trial, and the pages that are made of it.
import { join } from 'node:path';
import { errorText, UserError } from '../base/errors.js';
import { check, problemsText } from '../base/validation.js';
import { Lease } from '../setup/lease.js';
import { sweepHtml, sweepMarkdown } from '../sweep/pages.js';
import { sameSweep, sweepSchema, type Sweep } from '../sweep/record.js';
import { makeReportFolder, readData, writePages } from './pagesFolder.js';

/** The page of a sweep, in its folder. */
export const sweepPage = 'sweep.html';
/** Every trial of a sweep, in its folder. */
export const sweepData = 'sweep.json';

/**
 * The sweep that the folder has; undefined where it has none. UserError (usage) where it has a file
 * that is none.
 */
export async function readSweep(folder: string): Promise<Sweep | undefined> {
  const path = join(folder, sweepData);
  const raw = await readData(path);
  if (raw === undefined) return undefined;
  const found = check(sweepSchema, raw);
  if (found.ok) return found.data;
  throw new UserError(
    'usage',
    `${path} is no sweep: ${problemsText(found.problems)}`,
    'Choose another folder',
  );
}

/**
 * The sweep that the folder has, where it is the same one as `asked`: it goes on. Else `asked`
 * itself. UserError (usage) where the folder has another one, or a file that is none.
 */
export async function openSweep(folder: string, asked: Sweep): Promise<Sweep> {
  const found = await readSweep(folder);
  if (found === undefined) return asked;
  if (sameSweep(found, asked)) return found;
  const what = `${folder} has another sweep: ${found.name}, ${found.trials.length} trials on ${found.profile}`;
  throw new UserError('usage', what, 'Give this one another name or folder, or the same command');
}

/**
 * Writes data and pages, each whole or not at all. UserError (preflight) where that fails, and where
 * another client has taken over `lease`: what that one wrote stays.
 */
export async function writeSweep(folder: string, sweep: Sweep, lease: Lease): Promise<void> {
  const host = await lease.lostTo();
  if (host !== undefined) {
    const what = `another Trainyard on ${host} took over the sweep in ${folder}, since this one gave no sign for long`;
    throw new UserError('preflight', what, 'Follow it there: runs that are under way go on');
  }
  await writePages(folder, {
    [sweepData]: `${JSON.stringify(sweep, null, 1)}\n`,
    'sweep.md': sweepMarkdown(sweep),
    [sweepPage]: sweepHtml(sweep),
  });
}

/**
 * One client drives a sweep: two would start the same trial. Waits for another one; `onWait` gets
 * the host of that one. UserError (preflight) where there can be no such folder, Cancelled.
 */
export async function holdSweep(folder: string, waiting: Parameters<typeof Lease.hold>[2]): Promise<Lease> {
  try {
    await makeReportFolder(folder);
  } catch (error) {
    const what = `${folder} cannot be made: ${errorText(error)}`;
    throw new UserError('preflight', what, 'Choose another folder', { cause: error });
  }
  return Lease.hold(folder, 'sweep', waiting);
}

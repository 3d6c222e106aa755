// Files of a report, in the folder that a user named.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, systemCode, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { ownIgnoreFile } from '../code/rules.js';

/** The JSON of a report's file; undefined where there is no such file. UserError (usage). */
export async function readData(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new UserError('usage', `${path} cannot be read: ${errorText(error)}`, 'Choose another folder');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError('usage', `${path} is not JSON: ${errorText(error)}`, 'Choose another folder');
  }
}

/** Makes the folder where it is not there yet. One made here is never sent with code. */
export async function makeReportFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined) return;
  const text = '# This report is not sent along with the code of a run.\n*\n';
  await writeFileAtomic(join(folder, ownIgnoreFile), text, 0o644);
}

/**
 * Writes files by their names, each whole or not at all. UserError (preflight) where that fails.
 */
export async function writePages(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await makeReportFolder(folder);
    for (const [name, text] of Object.entries(files)) {
      await writeFileAtomic(join(folder, name), text, 0o644);
    }
  } catch (error) {
    const what = `the report cannot be written to ${folder}: ${errorText(error)}`;
    throw new UserError('preflight', what, 'Choose another folder, or free disk space there');
  }
}

// Files of a report, in the folder that a user named.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';

/** Writes files by their names, each whole or not at all. UserError (preflight) where that fails. */
export async function writePages(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFileAtomic(join(folder, name), text, 0o644);
    }
  } catch (error) {
    const what = `the report cannot be written to ${folder}: ${errorText(error)}`;
    throw new UserError('preflight', what, 'Choose another folder, or make room there');
  }
}

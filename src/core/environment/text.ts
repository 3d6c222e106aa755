// The text of a file of packages.
import { readFile, stat } from 'node:fs/promises';
import { errorText, UserError } from '../base/errors.js';

/** Bytes of a file that somebody wrote, or pip: hashes of some hundred packages are a tenth of it. */
export const mostBytes = 1e6;
/** Bytes that go to the nodes: a lock has hashes for all systems. */
export const mostSentBytes = 5e6;
/** Bytes. A lock file also has the addresses of all wheels, for all systems. */
export const mostLockBytes = 20e6;

/** UserError (usage) where it cannot be read, has more than `most` bytes, or is no text. */
export async function textOf(file: string, most: number): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > most) throw tooLarge(file, size);
    const bytes = await readFile(file);
    if (bytes.length > most) throw tooLarge(file, bytes.length);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const what =
      error instanceof TypeError
        ? `${file} is no text in UTF-8`
        : `the requirements cannot be read: ${errorText(error)}`;
    throw new UserError('usage', what, 'Name a file of Python packages', { cause: error });
  }
}

/** What is too much for a file of packages. */
export const tooLarge = (file: string, bytes: number): UserError =>
  new UserError(
    'usage',
    `${file} has ${(bytes / 1e6).toFixed(1)} MB, which is too much for a file of packages`,
    'Name a smaller one, say a requirements file with one package on a line',
  );

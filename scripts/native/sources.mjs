// Which files native code is made from.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { capture } from '../lib/shell.mjs';

/**
 * What git lists of native, sorted; or why it lists nothing.
 * @param {string} folder
 * @returns {{ files: string[] } | { why: string }}
 */
function askGit(folder) {
  const words = ['ls-files', '-z', '-co', '--exclude-standard', 'native'];
  const { ok, stdout, stderr } = capture('git', words, { cwd: folder });
  const files = stdout
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(folder, path)))
    .sort();
  if (ok && files.length > 0) return { files };
  return { why: stderr.trim().split('\n')[0] || 'it knows none there' };
}

/**
 * For checks, which read what belongs to the repository and nothing else.
 * @param {string} [folder] the repository's
 */
export function filesOfGit(folder = root) {
  const listed = askGit(folder);
  if ('files' in listed) return listed.files;
  throw new Error(
    `git lists no files of native: ${listed.why}\n` +
      'This check needs a clone of the repository, and git. Where the clone belongs to another user, run: ' +
      `git config --global --add safe.directory ${folder}`,
  );
}

/**
 * What tools leave among the sources, and .gitignore names, and a build by hand. A file too many
 * costs one build; a file too few keeps an old one in use.
 */
const notSources = /^native\/build\/|(^|\/)(__pycache__|node_modules)\/|\.log$/;

/**
 * The files below native, sorted as git's.
 * @param {string} [folder] the repository's
 */
export function filesOnDisk(folder = root) {
  return readdirSync(join(folder, 'native'), { recursive: true, encoding: 'utf8' })
    .map((path) => `native/${path}`)
    .filter((path) => !notSources.test(path))
    .filter((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile())
    .sort();
}

/**
 * For builds, which also work from an archive of the sources, and in a clone that git refuses to
 * read. A repository around an archive says nothing of it, or ignores a part.
 * @param {string} folder
 */
function filesForBuild(folder) {
  const listed = existsSync(join(folder, '.git')) ? askGit(folder) : undefined;
  return listed && 'files' in listed ? listed.files : filesOnDisk(folder);
}

/**
 * What a program is made from: the files that `takes`, and what builds them.
 * @param {string} tools
 * @param {(path: string) => boolean} takes
 * @param {string} [folder] the repository's
 */
export function sourcesHash(tools, takes, folder = root) {
  const files = filesForBuild(folder).filter(takes);
  if (files.length === 0)
    throw new Error(`no sources below ${join(folder, 'native')}. Clone the repository or unpack it again.`);
  const hash = createHash('sha256').update(tools);
  for (const path of files) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(folder, path)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

// The hosts that the user's own SSH configuration names, for a profile to be made of them.
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { systemCode } from '../../base/errors.js';

/** ssh itself gives up at this depth of Include. */
const deepest = 16;

/**
 * Names that stand after `Host`, in their order, without patterns; files of `Include` are read too.
 * None when there is no configuration. What stands under `Match` names no host.
 */
export async function configuredHosts(folder = join(homedir(), '.ssh')): Promise<string[]> {
  const names = new Set<string>();
  await read(join(folder, 'config'), folder, names, 0);
  return [...names];
}

async function read(path: string, folder: string, names: Set<string>, depth: number): Promise<void> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'EACCES'].includes(systemCode(error) ?? '')) return; // ssh leaves it out as well
    throw error;
  }
  for (const line of text.split(/\r?\n/)) {
    const [keyword = '', ...words] = wordsOf(line);
    if (keyword.toLowerCase() === 'host') {
      for (const word of words) if (/^[A-Za-z0-9][\w.:-]*$/.test(word)) names.add(word);
    } else if (keyword.toLowerCase() === 'include' && depth < deepest) {
      for (const word of words) {
        for (const file of await matching(word, folder)) await read(file, folder, names, depth + 1);
      }
    }
  }
}

/** `Keyword value`, `Keyword=value`, values with quotes; a comment is no line. */
function wordsOf(line: string): string[] {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.startsWith('#')) return [];
  const [, keyword = '', rest = ''] = /^([A-Za-z]+)(?:\s*=\s*|\s+)(.*)$/.exec(trimmed) ?? [];
  return [
    keyword,
    ...[...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
  ];
}

/** Files of an Include: relative to the folder, with `*` and `?` in the last part. */
async function matching(pattern: string, folder: string): Promise<string[]> {
  const path = pattern.startsWith('~/')
    ? join(homedir(), pattern.slice(2))
    : isAbsolute(pattern)
      ? pattern
      : join(folder, pattern);
  if (!/[*?]/.test(basename(path))) return [path];
  const form = new RegExp(
    `^${basename(path)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
  const entries = await readdir(dirname(path)).catch(() => []);
  return entries
    .filter((name) => form.test(name) && (!name.startsWith('.') || basename(path).startsWith('.')))
    .sort()
    .map((name) => join(dirname(path), name));
}

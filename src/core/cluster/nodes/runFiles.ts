// What is in a run's folder, as the set-up program finds it (native/node/files.py): the files that
// a path there names, with the sums by which a download is compared.
import { posix } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../base/errors.js';
import type { NodePath } from '../../base/nodePath.js';
import { nodePathSchema } from '../../base/nodePathSchema.js';
import type { Progress } from '../../base/progress.js';
import { visible } from '../../base/visible.js';
import type { Bootstrap } from '../../setup/bootstrap.js';

const count = z.int().check(z.gte(0));
const texts = z.array(z.string());
const lookSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('outside') }),
  z.object({ state: z.literal('special') }),
  z.object({ state: z.literal('missing'), near: z.string(), there: texts, thereCount: count }),
  z.object({
    state: z.literal('there'),
    folder: nodePathSchema,
    isFolder: z.boolean(),
    leftOut: texts,
    leftOutCount: count,
  }),
]);
const sumsSchema = z.object({
  files: z.array(z.tuple([z.string(), count, z.string()])),
  gone: texts,
  next: z.nullable(count),
});

/** Files of a run, as they were when somebody looked. */
export interface RunFiles {
  /** What the file or folder is called, by the path that was asked for. */
  name: string;
  isFolder: boolean;
  /** In which the names of `files` are. */
  folder: NodePath;
  /** `name` has `/` between its parts; `sha256` is in hex. */
  files: { name: string; bytes: number; sha256: string }[];
  /**
   * Names, at most 5, of what is not among them: links that lead out of the run's folder, to a
   * folder or to nothing, what is no plain file or went meanwhile, and names that are no UTF-8.
   */
  leftOut: string[];
  leftOutCount: number;
}

/** What does not come, and why; undefined where everything does. */
export function leftOutText({
  leftOut,
  leftOutCount,
}: Pick<RunFiles, 'leftOut' | 'leftOutCount'>): string | undefined {
  if (leftOutCount === 0) return undefined;
  const more = leftOutCount > leftOut.length ? ` and ${leftOutCount - leftOut.length} more` : '';
  // The editor's messages make a link of such a name.
  const names = leftOut.map((name) => visible(name).replaceAll('](', '] ('));
  return `left out, since these are no longer there, no plain files, names that are no UTF-8, or links to folders, to nothing or out of the run's folder: ${names.join(', ')}${more}`;
}

/**
 * The files that `path` names in the run folder `dir`: absolute, or from there, or from the code's
 * copy in it. UserError (usage) where it names nothing there, (preflight, connection), Cancelled.
 */
export async function findRunFiles(
  bootstrap: Pick<Bootstrap, 'request'>,
  dir: NodePath,
  path: string,
  progress: Progress = {},
): Promise<RunFiles> {
  progress.onProgress?.(`looking at ${path}`);
  const found = await bootstrap.request('files-look', { dir, path }, lookSchema, progress);
  if (found.state === 'outside') {
    const hint = "Name a file or folder in the run's folder. Copy what is elsewhere with scp";
    throw new UserError('usage', `${path} leads out of ${dir}, the folder of the run`, hint);
  }
  if (found.state === 'special') {
    throw new UserError('usage', `${path} is neither a file nor a folder`, 'Name one of these');
  }
  if (found.state === 'missing') {
    throw new UserError('usage', `there is no ${path} in ${dir}`, thereInstead(found));
  }
  const { isFolder, folder, leftOut, leftOutCount } = found;
  const name = ownName(path, dir);
  const all: RunFiles = { name, isFolder, folder, files: [], leftOut, leftOutCount };
  for (let start: number | null = 0; start !== null;) {
    const params = { start };
    const sums: z.infer<typeof sumsSchema> = await bootstrap.request(
      'files-sums',
      params,
      sumsSchema,
      progress,
    );
    for (const [name, bytes, sha256] of sums.files) all.files.push({ name, bytes, sha256 });
    all.leftOut = [...all.leftOut, ...sums.gone].slice(0, 5);
    all.leftOutCount += sums.gone.length;
    if (sums.next !== null && sums.next <= start) throw oddAnswer(path);
    start = sums.next;
  }
  if (!isFolder && all.files.some((file) => file.name !== name)) throw oddAnswer(path);
  if (all.files.length > 0) return all;
  throw new UserError('usage', `there is no file in ${path}`, 'Name another one');
}

/** Where a download lands is not for the node to say. */
function ownName(path: string, dir: NodePath): string {
  const name = posix.basename(posix.normalize(path));
  return ['', '.', '~'].includes(name) ? posix.basename(dir) : name;
}

const oddAnswer = (path: string): UserError =>
  new UserError('failed', `the node's answer about ${path} makes no sense`, 'Report this with the log');

function thereInstead(found: { near: string; there: readonly string[]; thereCount: number }): string {
  const { near, there, thereCount } = found;
  if (there.length === 0) return near === '' ? 'Nothing is there' : `${near} is empty`;
  const more = thereCount > there.length ? ` and ${thereCount - there.length} more` : '';
  return `${near === '' ? 'The folder of the run' : near} has ${there.join(', ')}${more}`;
}

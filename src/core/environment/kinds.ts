// Which files name the Python packages of a program, told apart by their names.
import { UserError } from '../base/errors.js';

/** What a file of packages is, which decides how it is read. */
export type PackagesKind = 'requirements' | 'project' | 'lock' | 'uv';

/** The usual names of such files, in the order in which a user is asked about them. */
export const packagesFiles = ['requirements.txt', 'uv.lock', 'pylock.toml', 'pyproject.toml'] as const;

const lockName = /^pylock\.(?:[^.]+\.)?toml$/;
/** What Rye and others call a requirements file with versions. */
const pinnedName = /^requirements[\w.-]*\.lock$/;

/**
 * By the last part of a path. Any name may be a requirements file's but those that end as TOML and
 * lock files do, `requirements.lock` aside: UserError (usage) for another one of these.
 */
export function packagesKind(name: string): PackagesKind {
  if (name === 'pyproject.toml') return 'project';
  if (name === 'uv.lock') return 'uv';
  if (lockName.test(name)) return 'lock';
  if (pinnedName.test(name) || !/\.(?:toml|lock)$/i.test(name)) return 'requirements';
  throw new UserError(
    'usage',
    `${name} is no file whose packages can be read`,
    'Name a requirements file of pip, pyproject.toml, pylock.toml, pylock.NAME.toml or uv.lock',
  );
}

/** Whether a pyproject.toml of this text is likely to name packages: it is not read as TOML here. */
export const namesDependencies = (text: string): boolean =>
  /^[ \t]*\[[ \t]*project[ \t]*\]/m.test(text) && /^[ \t]*dependencies[ \t]*=/m.test(text);

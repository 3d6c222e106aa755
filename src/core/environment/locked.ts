// What lock files have in common: each package with its version, its condition and its hashes.
import { UserError } from '../base/errors.js';

const pypi = /^https:\/\/(?:pypi\.org|pypi\.python\.org)\/simple\/?$/;

/** What to do about a package that a lock file has in a way that pip cannot follow. */
const ofRequirements =
  'Name a requirements file for the nodes instead, without that package or without hashes';

/** UserError (usage) about a package of a lock file. */
export const refused = (file: string, what: string, hint: string = ofRequirements): UserError =>
  new UserError('usage', `${file}: ${what}`, hint);

/**
 * Options of pip for where packages come from: none for PyPI, which the nodes may have a mirror of.
 * Another index stands beside it; that a package comes from the wrong one is what hashes rule out.
 */
export function indexLines(indexes: readonly string[], file: string): string[] {
  const others = [...new Set(indexes)].filter((index) => !pypi.test(index));
  const wrong = others.find((index) => !/^https?:\/\/[^\s"'\\#$]+$/.test(index));
  if (wrong !== undefined) throw refused(file, 'packages come from no address that the nodes could follow');
  return others.sort().map((index) => `--extra-index-url ${index}`);
}

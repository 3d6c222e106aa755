// For which Pythons a file of packages is, and whether a node has such a one.
import { UserError } from '../base/errors.js';
import { holds, parseMarker } from './markers.js';
import { satisfies } from './versions.js';

/** What a file says of the Pythons that its packages are for; left out: any. */
export interface Fits {
  /** `>=3.10,<3.13`. */
  python?: string | undefined;
  /** Conditions of which one has to hold. */
  environments?: readonly string[] | undefined;
}

/** UserError (usage) for a file that says it in a way that nobody understands. */
export function assertUnderstood({ python, environments = [] }: Fits, file: string): void {
  const wrong =
    python !== undefined && satisfies('3.12.0', python) === undefined
      ? python
      : environments.find((one) => !parseMarker(one));
  if (wrong === undefined) return;
  throw new UserError(
    'usage',
    `${file}: "${wrong}" says of no Python whether it is one`,
    'Correct it, or make the file anew',
  );
}

/** UserError (preflight) where the Python of a node, with these values, is none of them. */
export function assertFits(
  { python, environments = [] }: Fits,
  file: string,
  node: { name: string; markers: Readonly<Record<string, string>> },
): void {
  const version = node.markers['python_full_version'] ?? '';
  const isOne = environments.some((text) => {
    const marker = parseMarker(text);
    return marker !== undefined && holds(marker, node.markers);
  });
  const isFor =
    python !== undefined && satisfies(version.replace(/\+$/, ''), python) === false
      ? `Python ${python}`
      : environments.length > 0 && !isOne
        ? environments.join(' or ')
        : undefined;
  if (isFor === undefined) return;
  throw new UserError(
    'preflight',
    `${node.name} has Python ${version}, and the packages of ${file} are for ${isFor}`,
    'Give the nodes such a Python, for example by a prologue in the profile, or make the file for theirs',
  );
}

// The Python packages that a file names, as they go to the nodes: one text of pip's lines, whatever
// kind of file it was.
import { basename, resolve } from 'node:path';
import { UserError } from '../base/errors.js';
import type { Fits } from './fits.js';
import { packagesKind, type PackagesKind } from './kinds.js';
import { assertForNodes, hasHash, joined, optionsOf } from './lines.js';
import { pipLines } from './pipFile.js';
import { projectLines } from './project.js';
import { lockLines } from './pylock.js';
import { mostSentBytes, tooLarge } from './text.js';
import { uvLines } from './uvLock.js';

/** What of a file of packages goes to the nodes. */
export interface Requirements {
  /** The whole path, on this machine. */
  file: string;
  /** One requirement or option on a line. */
  text: string;
  /** The same of the files that it names as constraints; empty where it names none. */
  constraints: string;
  /** Of its lines those that say where pip looks, and what it may take. */
  options: string[];
  /** Whether its packages have hashes, which pip then compares. */
  hashed: boolean;
  /** Whether it names all that its packages need, as a lock file does. */
  isWhole: boolean;
  /** For which Pythons it is. */
  fits: Fits;
}

/** What a reader of one kind of file finds in it. */
interface FoundLines {
  lines: string[];
  constraints?: string[];
  fits?: Fits;
}

const readers: Readonly<Record<PackagesKind, (file: string, signal?: AbortSignal) => Promise<FoundLines>>> = {
  requirements: pipLines,
  project: projectLines,
  lock: lockLines,
  uv: uvLines,
};

/**
 * UserError (usage) for a file that cannot be read, and for packages that a node cannot get as the
 * file has them; Cancelled, where another program has to read it.
 */
export async function readRequirements(named: string, signal?: AbortSignal): Promise<Requirements> {
  const file = resolve(named);
  const kind = packagesKind(basename(file));
  const { lines, constraints = [], fits = {} } = await readers[kind](file, signal);
  for (const line of [...lines, ...constraints]) assertForNodes(line, file);
  const packages = lines.filter((line) => !line.startsWith('-'));
  if (packages.length === 0) {
    throw new UserError('usage', `${named} names no package`, 'Write one on a line, say torch==2.9.1');
  }
  const text = joined(lines);
  const bytes = Buffer.byteLength(text);
  if (bytes > mostSentBytes) throw tooLarge(file, bytes);
  return {
    file,
    text,
    constraints: joined(constraints),
    options: optionsOf([...lines, ...constraints]),
    hashed: lines.some(hasHash),
    isWhole: kind === 'lock' || kind === 'uv',
    fits,
  };
}

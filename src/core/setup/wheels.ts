// Packages for a node that cannot fetch them itself, the runtime's or NVIDIA's: fetched here once,
// by this machine's own pip, which compares the pinned hashes.
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { runCommand } from '../base/processes.js';

/** manylinux platforms whose wheels run on glibc 2.28, the oldest that nodes may have (PEP 600). */
const platforms = [
  ...Array.from({ length: 24 }, (_, at) => `manylinux_2_${28 - at}_x86_64`),
  ...['manylinux2014_x86_64', 'manylinux2010_x86_64', 'manylinux1_x86_64', 'linux_x86_64'],
];

const marker = /^(\S+) ; (.+?) \\$/;
const clause = /^python_full_version\s*(<|>=|==)\s*'(\d+)\.(\d+)(\.\*)?'$/;

/**
 * The lines of a pinned file that hold for this Python, without their conditions: pip judges those
 * by the Python that runs it, not by the one it fetches for. TypeError for a condition of another
 * form.
 */
export function requirementsFor(text: string, [major = 3, minor = 0]: readonly number[]): string {
  let kept = true;
  return text
    .split('\n')
    .flatMap((line) => {
      const found = marker.exec(line);
      if (!line.startsWith(' ')) kept = found ? holds(found[2] ?? '', major, minor) : true;
      if (!kept) return [];
      return [found ? `${found[1] ?? ''} \\` : line];
    })
    .join('\n');
}

function holds(condition: string, major: number, minor: number): boolean {
  return condition.split(' and ').every((part) => {
    const found = clause.exec(part.trim());
    if (!found) throw new TypeError(`the condition ${part} of a requirement is not understood`);
    const [, operator, ...version] = found;
    const difference = major - Number(version[0]) || minor - Number(version[1]);
    if (operator === '<') return difference < 0;
    return operator === '==' ? difference === 0 : difference >= 0;
  });
}

/** What belongs to requirements that are a user's. */
export interface OwnRequirements {
  constraints: string;
  /** Of the node's Python: what conditions ask for (PEP 508). */
  markers: Readonly<Record<string, string>>;
  /** Whether they name all that their packages need. */
  isWhole: boolean;
}

/**
 * pip judges conditions by the Python that runs it, and has no option for another one. The first
 * word is what they are judged by; the others are pip's.
 */
const pipFor = `
import json, sys
import pip._vendor.packaging.markers as markers
known = json.loads(sys.argv.pop(1))
markers.default_environment = lambda: dict(known)
from pip._internal.cli.main import main
sys.exit(main(sys.argv[1:]))
`;

/** Which wheels are fetched, for which Python. */
export interface WheelsOptions {
  /** Folder of all such collections, for example `~/.cache/trainyard/wheels`. */
  root: string;
  /** Name of the runtime, which the pinned file gives it. */
  runtime: string;
  requirements: string;
  /** Where the requirements are a user's. */
  own?: OwnRequirements;
  /** The pinned line of pip itself. */
  pip: string;
  /** Of the node. */
  python: readonly number[];
}

/**
 * Returns the folder that holds them. UserError (preflight) when this machine has no pip or no
 * network, Cancelled.
 */
export async function ensureWheels(options: WheelsOptions, progress: Progress = {}): Promise<string> {
  const { root, runtime, python } = options;
  const folder = join(root, `${runtime}-${python.slice(0, 2).join('.')}`);
  if ((await readdir(folder).catch(() => [])).length > 0) return folder;
  const temporary = await fetchInto('.partial-', options, progress);
  try {
    await rename(join(temporary, 'wheels'), folder);
  } catch (error) {
    // Another client was first.
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}

/** Milliseconds after which what a client that was killed has left is removed. */
const forgotten = 24 * 3600 * 1000;
const ownPrefix = '.own-';

/**
 * The same of a user's requirements, which nobody else needs: the caller removes `folder`, in which
 * the packages are in `wheels`.
 */
export async function fetchOwnWheels(
  options: WheelsOptions,
  progress: Progress = {},
): Promise<{ folder: string; wheels: string }> {
  const folder = await fetchInto(ownPrefix, options, progress);
  return { folder, wheels: join(folder, 'wheels') };
}

/** Into `wheels` of a new folder whose name begins with `prefix`. */
async function fetchInto(prefix: string, options: WheelsOptions, progress: Progress): Promise<string> {
  const { root } = options;
  await mkdir(root, { recursive: true, mode: 0o700 });
  await removeForgotten(root);
  const folder = await mkdtemp(join(root, prefix));
  try {
    progress.onProgress?.('fetching packages on this machine, for nodes without internet access');
    await fetchAll(options, folder, progress);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (systemCode(error) !== 'ENOENT') throw error;
    const what = 'this machine has no Python 3 with which to fetch packages for the node';
    throw new UserError(
      'preflight',
      what,
      'Install Python 3 with pip here, or give the node access to a package index',
    );
  }
}

async function removeForgotten(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(ownPrefix) && !name.startsWith('.partial-')) continue;
    const path = join(root, name);
    const info = await stat(path).catch(() => undefined); // another client has just removed it
    if (info && Date.now() - info.mtimeMs > forgotten) await rm(path, { recursive: true, force: true });
  }
}

/** The packages, and pip itself, into `wheels` of the folder. */
async function fetchAll(options: WheelsOptions, folder: string, progress: Progress): Promise<void> {
  const { requirements, own, pip, python } = options;
  const pinned = ['--require-hashes', '--no-deps'];
  const place = { python, folder };
  if (own === undefined) {
    const texts = [`${requirementsFor(requirements, python)}\n${pip}`];
    await fetchSome(texts, { ...place, program: ['-m', 'pip'], flags: pinned }, progress);
    return;
  }
  await fetchSome([pip], { ...place, program: ['-m', 'pip'], flags: pinned }, progress);
  const program = ['-c', pipFor, JSON.stringify(own.markers)];
  const flags = own.isWhole ? ['--no-deps'] : [];
  await fetchSome([requirements, own.constraints], { ...place, program, flags }, progress);
}

interface Fetching {
  python: readonly number[];
  folder: string;
  /** How pip is started. */
  program: readonly string[];
  flags: readonly string[];
}

/** What a file of requirements names, and a file of constraints admits. UserError (preflight). */
async function fetchSome(
  [requirements = '', constraints = '']: readonly string[],
  { python, folder, program, flags }: Fetching,
  { signal }: Progress,
): Promise<void> {
  const version = python.slice(0, 2).join('.');
  const [list, limits] = [join(folder, 'requirements.txt'), join(folder, 'constraints.txt')];
  await writeFile(list, requirements);
  await writeFile(limits, constraints);
  const args = [
    ...[...program, 'download', '--no-input', '--disable-pip-version-check', ...flags],
    ...['--only-binary=:all:', '--implementation', 'cp', '--python-version', version],
    ...['--abi', `cp${version.replace('.', '')}`, '--abi', 'abi3', '--abi', 'none'],
    ...platforms.flatMap((platform) => ['--platform', platform]),
    ...['-d', join(folder, 'wheels'), '-r', list],
    ...(constraints === '' ? [] : ['-c', limits]),
  ];
  const { code, output } = await runCommand(
    process.platform === 'win32' ? 'python' : 'python3',
    args,
    signal ? { signal } : {},
  );
  if (code === 0) return;
  const lines = output.trim().split('\n');
  const said = lines.findLast((line) => line.includes('ERROR')) ?? lines.at(-1);
  throw new UserError(
    'preflight',
    `the packages could not be fetched on this machine either: ${said ?? 'pip said nothing'}`,
    'Give the node, or this machine, access to a package index',
  );
}

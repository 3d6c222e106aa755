// Packages for a node that cannot fetch them itself, the runtime's or NVIDIA's: fetched here once,
// by this machine's own pip, which compares the pinned hashes.
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { runCommand } from '../base/processes.js';

/** manylinux platforms whose wheels run on glibc 2.28, the oldest that nodes may have (PEP 600). */
const platforms = [
  'manylinux_2_28_x86_64',
  'manylinux_2_27_x86_64',
  'manylinux_2_18_x86_64',
  'manylinux_2_17_x86_64',
  'manylinux2014_x86_64',
  'manylinux1_x86_64',
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

/** Which wheels are fetched, for which Python. */
export interface WheelsOptions {
  /** Folder of all such collections, for example `~/.cache/trainyard/wheels`. */
  root: string;
  /** Name of the runtime, which the pinned file gives it. */
  runtime: string;
  requirements: string;
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
  const { root, runtime, requirements, pip, python } = options;
  const version = python.slice(0, 2).join('.');
  const folder = join(root, `${runtime}-${version}`);
  if ((await readdir(folder).catch(() => [])).length > 0) return folder;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const temporary = await mkdtemp(join(root, '.partial-'));
  try {
    progress.onProgress?.('fetching packages on this machine, for nodes without internet access');
    const list = join(temporary, 'requirements.txt');
    await writeFile(list, `${requirementsFor(requirements, python)}\n${pip}`);
    const target = ['--only-binary=:all:', '--implementation', 'cp', '--python-version', version];
    const args = [
      ...[
        '-m',
        'pip',
        'download',
        '--no-input',
        '--disable-pip-version-check',
        '--require-hashes',
        '--no-deps',
      ],
      ...target,
      ...['--abi', `cp${version.replace('.', '')}`, '--abi', 'abi3', '--abi', 'none'],
      ...platforms.flatMap((platform) => ['--platform', platform]),
      ...['-d', join(temporary, 'wheels'), '-r', list],
    ];
    const { signal } = progress;
    const { code, output } = await runCommand(
      process.platform === 'win32' ? 'python' : 'python3',
      args,
      signal ? { signal } : {},
    );
    if (code !== 0) {
      const told =
        output
          .trim()
          .split('\n')
          .findLast((line) => line.includes('ERROR')) ?? output.trim().split('\n').at(-1);
      throw new UserError(
        'preflight',
        `the runtime could not be fetched on this machine either: ${told ?? 'pip said nothing'}`,
        'Give the node, or this machine, access to a package index',
      );
    }
    await rename(join(temporary, 'wheels'), folder).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error; // another client was first
    });
    return folder;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const what = 'this machine has no Python 3 with which to fetch the runtime for the node';
    throw new UserError(
      'preflight',
      what,
      'Install Python 3 with pip here, or give the node access to a package index',
    );
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

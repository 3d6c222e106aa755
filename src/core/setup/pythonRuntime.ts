// The Python environment that brings MPICH, oneDNN and TensorBoard, made once for each set of
// pinned requirements.
import { createHash, randomBytes } from 'node:crypto';
import { access, lstat, mkdir, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cancelled, errorText, systemCode, UserError } from '../base/errors.js';
import { nullLogger, type Logger } from '../base/log.js';
import { Lease } from './lease.js';
import { runCommand, type CommandResult } from '../base/processes.js';

/** What the environment takes on disk while it is made, with room to spare. */
export const neededBytes = 700_000_000;
const wanted = ['bin/python', 'bin/mpiexec', 'lib/libmpi.so.12', 'lib/libdnnl.so.3'];

/**
 * Where and of what the Python environment is made. `python` is the program that makes it,
 * `python3` where it is left out.
 */
export interface RuntimeOptions {
  /** Folder of all runtimes, for example `~/.cache/trainyard/runtime`. */
  root: string;
  /** The pinned requirements file. */
  requirements: string;
  python?: string;
  signal?: AbortSignal;
  logger?: Logger;
  onProgress?: (text: string) => void;
}

/** An environment that is whole. `dir` is its folder. */
export interface PythonRuntime {
  dir: string;
  /** SHA-256 of the requirements, whole. */
  requirementsHash: string;
}

/**
 * Returns the environment, making it when it is not there. It is made under a temporary name and
 * renamed when complete, so a half-made one is never used; of callers in several processes one
 * works and the others wait for it. UserError (preflight) when Python, disk or network fail it;
 * Cancelled.
 */
export async function ensurePythonRuntime(options: RuntimeOptions): Promise<PythonRuntime> {
  const requirementsHash = createHash('sha256')
    .update(await readFile(options.requirements))
    .digest('hex');
  const name = requirementsHash.slice(0, 16);
  const dir = join(options.root, name);
  await mkdir(options.root, { recursive: true, mode: 0o700 });
  if ((await missingFrom(dir)) !== undefined) await makeOnce(options, name, dir);
  return { dir, requirementsHash };
}

/** Whether `ensurePythonRuntime` would find the environment, and make nothing. */
export async function hasPythonRuntime({
  root,
  requirements,
}: Pick<RuntimeOptions, 'root' | 'requirements'>): Promise<boolean> {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  return (await missingFrom(join(root, hash.slice(0, 16)))) === undefined;
}

async function makeOnce(options: RuntimeOptions, name: string, dir: string): Promise<void> {
  const { root, signal, onProgress } = options;
  const onWait = (host: string): void =>
    onProgress?.(`waiting for another Trainyard on ${host} that is making the runtime`);
  const lease = await Lease.hold(root, name, { signal, onWait });
  try {
    await lease.removeDead(root, name);
    if ((await missingFrom(dir)) !== undefined) await make(options, name, dir, lease.own);
  } finally {
    await lease.release();
  }
}

/**
 * The first file that a usable environment has and this one lacks. `bin/python` dangles after a
 * Python upgrade.
 */
async function missingFrom(dir: string): Promise<string | undefined> {
  for (const file of wanted) {
    try {
      await access(join(dir, file));
    } catch {
      return file;
    }
  }
  return undefined;
}

async function make(options: RuntimeOptions, name: string, dir: string, own: string): Promise<void> {
  const { root, logger = nullLogger } = options;
  await checkDisk(root);
  const temporary = join(root, `.${name}.partial-${own}-${randomBytes(3).toString('hex')}`);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await install(options, temporary);
    const missing = await missingFrom(temporary);
    if (missing !== undefined) {
      throw new UserError('preflight', `the runtime was made without ${missing}`, {
        kind: 'report',
        tryFirst: false,
      });
    }
    await relocate(temporary, dir);
    if (await exists(dir)) await discard(dir); // unusable, or it would have been taken
    try {
      await rename(temporary, dir);
    } catch (error) {
      const code = systemCode(error);
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      logger.log('info', 'another process made the runtime first; its one is used');
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function install(options: RuntimeOptions, target: string): Promise<void> {
  const { python = 'python3', onProgress, logger = nullLogger } = options;
  const env = cleanEnvironment(process.env);
  const shared = { env, ...(options.signal ? { signal: options.signal } : {}) };
  onProgress?.('making a Python environment');
  let venv: CommandResult;
  try {
    venv = await runCommand(python, ['-m', 'venv', target], shared);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    throw new UserError(
      'preflight',
      `${python} cannot be started: ${errorText(error)}`,
      'Install it with: sudo apt-get install python3 python3-venv',
      { cause: error },
    );
  }
  if (venv.code !== 0) throw venvError(python, venv);
  onProgress?.('installing MPICH, oneDNN and TensorBoard (about 450 MB, once)');
  const pip = [
    '-m',
    'pip',
    'install',
    '--no-input',
    '--disable-pip-version-check',
    '--no-compile',
    '--require-hashes',
  ];
  const result = await runCommand(join(target, 'bin', 'python'), [...pip, '-r', options.requirements], {
    ...shared,
    onLine: (line) => {
      logger.log('debug', `pip: ${line}`);
      const step = /^(Collecting|Downloading|Installing collected packages)/.test(line);
      if (step) onProgress?.(line.replace(/ \(from .*/, '').slice(0, 100));
    },
  });
  if (result.code !== 0) throw pipError(result);
}

function venvError(python: string, result: CommandResult): UserError {
  const lines = result.output.trim().split('\n');
  if (/ensurepip|No module named '?venv/.test(result.output)) {
    const named = /apt(?:-get)? install (\S+)/.exec(result.output)?.[1] ?? 'python3-venv';
    return new UserError(
      'preflight',
      `${python} cannot make environments: its venv module is not installed`,
      `Install it with: sudo apt-get install ${named}`,
    );
  }
  const ending = result.signal ?? `exit ${result.code ?? '?'}`;
  return new UserError(
    'preflight',
    `${python} -m venv failed (${ending}): ${lines.at(-1) ?? ''}`,
    'Check that it is Python 3.9 or newer',
  );
}

function pipError(result: CommandResult): UserError {
  const lines = result.output.trim().split('\n');
  const told = lines.findLast((line) => /^\s*(ERROR|error):/.test(line)) ?? lines.at(-1) ?? '';
  const ending = result.signal ?? `exit ${result.code ?? '?'}`;
  const hint = /No space left/i.test(result.output)
    ? 'Free some disk space'
    : /HASHES|hash/i.test(told)
      ? 'A package is not the one that was pinned: check the package index you use'
      : 'Check the network and the package index pip is set to, then try again';
  return new UserError('preflight', `pip could not install the runtime (${ending}): ${told.trim()}`, hint);
}

/**
 * What a user set for other projects must not redirect this installation; proxies and the package
 * index stay.
 */
function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dropped = ['PYTHONHOME', 'PYTHONPATH', 'PIP_TARGET', 'PIP_PREFIX', 'PIP_REQUIREMENT', 'PIP_ROOT'];
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.includes(name)));
  return { ...kept, PIP_USER: '0' }; // a pip.conf may say `user = true`, and pip believes this first
}

/** Scripts of an environment name its own absolute path. */
async function relocate(from: string, to: string): Promise<void> {
  const bin = join(from, 'bin');
  const files = (await readdir(bin)).map((name) => join(bin, name));
  for (const path of [...files, join(from, 'pyvenv.cfg')]) {
    const info = await lstat(path);
    if (!info.isFile() || info.size > 1_000_000) continue;
    const bytes = await readFile(path);
    if (bytes.includes(0) || !bytes.includes(from)) continue;
    await writeFile(path, bytes.toString('utf8').replaceAll(from, to), { mode: info.mode });
  }
}

async function checkDisk(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= neededBytes) return;
  const megabytes = (bytes: number): string => `${Math.floor(bytes / 1e6)} MB`;
  throw new UserError(
    'preflight',
    `the runtime needs ${megabytes(neededBytes)} in ${folder}, and ${megabytes(free)} are free`,
    'Free some space, or set XDG_CACHE_HOME to a disk that has it',
  );
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Out of the way in one step, then removed. */
async function discard(dir: string): Promise<void> {
  const aside = `${dir}.unusable-${randomBytes(3).toString('hex')}`;
  await rename(dir, aside);
  await rm(aside, { recursive: true, force: true });
}

// The packages of a uv.lock, as the user's own uv exports them, with their hashes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { oneLine, systemCode, UserError } from '../base/errors.js';
import { runCommand } from '../base/processes.js';
import { assertUnderstood, type Fits } from './fits.js';
import { assertForNodes, hasHash, normalized } from './lines.js';
import { indexLines, refused } from './locked.js';
import { logicalLines } from './pipFile.js';
import { mostLockBytes, mostSentBytes, textOf } from './text.js';
import { readToml } from './toml.js';

const lockSchema = z.object({
  'requires-python': z.optional(z.string()),
  package: z.optional(
    z.array(
      z.object({
        name: z.string(),
        version: z.optional(z.string()),
        source: z.object({ registry: z.optional(z.string()) }),
      }),
    ),
  ),
});

type LockedPackage = NonNullable<z.output<typeof lockSchema>['package']>[number];

/** Milliseconds. uv takes some hundredths of a second. */
const patience = 60_000;
/** What the project needs to run, as it is locked, and not its own packages; nothing is fetched. */
const words = [
  ...['export', '--frozen', '--offline', '--no-python-downloads', '--format', 'requirements-txt'],
  ...['--no-default-groups', '--no-emit-workspace', '--color', 'never'],
];

/**
 * UserError (usage) where there is no uv, where it refuses, and for packages that no node could
 * get; Cancelled.
 */
export async function uvLines(file: string, signal?: AbortSignal): Promise<{ lines: string[]; fits: Fits }> {
  const lock = readToml(await textOf(file, mostLockBytes), lockSchema, file);
  const locked = byName(lock.package ?? []);
  const fits = { python: lock['requires-python'] };
  assertUnderstood(fits, file);
  const lines = logicalLines(await exported(file, signal));
  const indexes = lines.flatMap((line) => {
    assertForNodes(line, file);
    if (/@\s*git\+/.test(line)) {
      throw refused(
        file,
        `${line.split(' ')[0] ?? ''} comes from a repository, of which pip compares no hash`,
      );
    }
    const [, name = '', version] = /^([\w.-]+)(?:==([^\s;]+))?/.exec(line) ?? [];
    const found = (locked.get(normalized(name)) ?? []).filter(
      (one) => version === undefined || one.version === version,
    );
    if (found.length === 0) {
      const hint = 'Name the lock file of the whole workspace';
      throw refused(file, `uv names ${name}, which this file lacks: it read another one`, hint);
    }
    const registries = version === undefined ? [] : found.flatMap(({ source }) => source.registry ?? []);
    const options = indexLines(registries, file);
    if (!hasHash(line)) throw refused(file, `${name} has no hash`);
    return options;
  });
  return { lines: [...new Set(indexes), ...lines], fits };
}

function byName(packages: readonly LockedPackage[]): Map<string, LockedPackage[]> {
  const found = new Map<string, LockedPackage[]>();
  for (const one of packages) {
    const name = normalized(one.name);
    const same = found.get(name);
    if (same) same.push(one);
    else found.set(name, [one]);
  }
  return found;
}

/** Its text for pip. */
async function exported(file: string, signal: AbortSignal | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trainyard-uv-'));
  try {
    const to = join(folder, 'requirements.txt');
    const args = [...words, '--output-file', to, '--project', dirname(file)];
    const begun = performance.now();
    const {
      code,
      signal: ended,
      output,
    } = await runCommand('uv', args, {
      timeout: patience,
      ...(signal ? { signal } : {}),
    });
    if (code === null) {
      const isLate = performance.now() - begun >= patience;
      const how = isLate ? `did not end within ${patience / 1000} s` : `was ended by ${ended ?? 'a signal'}`;
      const what = `uv ${how} with ${file}`;
      throw new UserError('usage', what, 'Look at that project by uv, or name a requirements file');
    }
    if (code !== 0) {
      const said = oneLine(output.replace(/^warning:.*$/gm, '')).slice(0, 600) || `it ended with ${code}`;
      throw new UserError('usage', `uv cannot export ${file}: ${said}`, 'Correct the project, or update uv');
    }
    return await textOf(to, mostSentBytes);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new UserError(
      'usage',
      `${file} is read by uv, and there is no uv on the PATH of this machine`,
      'Install uv (https://docs.astral.sh/uv), or name a requirements file that it exported elsewhere',
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

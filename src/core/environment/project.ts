// The packages that a pyproject.toml names as those of its project (PEP 621).
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { assertUnderstood, type Fits } from './fits.js';
import { assertForNodes, nameOf, normalized } from './lines.js';
import { mostBytes, textOf } from './text.js';
import { readToml } from './toml.js';

const table = z.record(z.string(), z.unknown());
const projectSchema = z.object({
  project: z.optional(
    z.object({
      name: z.optional(z.string()),
      'requires-python': z.optional(z.string()),
      dependencies: z.optional(z.array(z.string())),
      dynamic: z.optional(z.array(z.string())),
    }),
  ),
  tool: z.optional(z.object({ uv: z.optional(table), poetry: z.optional(table), pdm: z.optional(table) })),
});

const explicitSchema = z.object({ explicit: z.literal(true) });

/** What uv, Poetry and PDM let a project say about where packages come from, and pip cannot do. */
const untold = {
  uv: [
    ...['index', 'index-url', 'extra-index-url', 'find-links', 'no-index'],
    ...['constraint-dependencies', 'override-dependencies', 'exclude-dependencies'],
    ...['resolution', 'prerelease'],
  ],
  poetry: ['source'],
  pdm: ['source', 'resolution'],
} as const;

const other = 'Name the lock file of the project, or a requirements file that its tool exports';

/**
 * UserError (usage) where the file does not name the packages itself, or says more about them than
 * pip could follow: never other packages than those of the project's own tool.
 */
export async function projectLines(file: string): Promise<{ lines: string[]; fits: Fits }> {
  const { project, tool = {} } = readToml(await textOf(file, mostBytes), projectSchema, file);
  const refuse = (what: string, hint: string): never => {
    throw new UserError('usage', `${file}${what}`, hint);
  };
  if (project?.dynamic?.includes('dependencies') === true) {
    refuse(' leaves its dependencies to the build of the project', 'Name the file that the build takes');
  }
  if (project?.dependencies === undefined) {
    const what =
      tool.poetry?.['dependencies'] === undefined
        ? ' has no dependencies in [project]'
        : ' has its dependencies in the form of Poetry alone';
    return refuse(what, 'Write them as dependencies of [project], or name an exported requirements file');
  }
  if (existsSync(join(dirname(file), 'uv.toml'))) refuse(': pip cannot follow the uv.toml beside it', other);
  for (const [name, keys] of Object.entries(untold)) {
    const said = tool[name as keyof typeof untold] ?? {};
    const key = keys.find((one) => said[one] !== undefined && !isExplicit(said[one]));
    if (key !== undefined) refuse(`: pip cannot follow "${key}" of [tool.${name}]`, other);
  }
  const lines = project.dependencies.map((one) => one.trim());
  const sourced = new Set([...sourcesOf(tool.uv?.['sources']), ...sourcesOf(tool.poetry?.['dependencies'])]);
  for (const line of lines) {
    assertForNodes(line, file);
    // Comments, options and lines that go on are of requirements files alone.
    if (!/^[A-Za-z0-9]/.test(line) || /[\r\n]|\\$|\s#|\s-[-A-Za-z]/.test(line)) {
      refuse(`: "${line}" is no requirement`, 'Write, say, torch==2.9.1');
    }
    const name = nameOf(line);
    if (sourced.has(name)) refuse(`: only the project's tool knows where ${name} comes from`, other);
    if (project.name !== undefined && name === normalized(project.name)) {
      refuse(`: "${line}" is the project itself`, 'Write what it needs as dependencies of [project]');
    }
  }
  const fits = { python: project['requires-python'] };
  assertUnderstood(fits, file);
  return { lines, fits };
}

/** Indexes that count only for the packages that name one. */
const isExplicit = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one: unknown) => z.safeParse(explicitSchema, one).success);

/** The packages of a table that have a place of their own, but for those of extras and groups. */
function sourcesOf(sources: unknown): string[] {
  const read = z.safeParse(table, sources);
  if (!read.success) return [];
  return Object.entries(read.data)
    .filter(([, source]) => [source].flat().some(hasPlace))
    .map(([name]) => normalized(name));
}

const places = ['git', 'url', 'path', 'file', 'workspace', 'index', 'source'];

function hasPlace(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false;
  if ('extra' in source || 'group' in source) return false;
  return places.some((place) => place in source);
}

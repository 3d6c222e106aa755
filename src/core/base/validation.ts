// One way to turn a zod failure into words, used at every border where text comes in.
import * as z from 'zod/mini';
import { nearestOf } from './nearest.js';
import en from 'zod/v4/locales/en.js';

const { localeError } = en();

/** One thing that is wrong with a value: where in the value, and what. */
export interface Problem {
  path: (string | number)[];
  message: string;
}

/** `hosts[0].slots`; empty for the value itself. */
export function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

/** Checks `value`; either the parsed data or every problem with its place. */
export function check<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
): { ok: true; data: z.output<S> } | { ok: false; problems: Problem[] } {
  const result = z.safeParse(schema, value, { error: localeError });
  if (result.success) return { ok: true, data: result.data };
  const problems = result.error.issues.map((issue) => ({
    path: issue.path.filter((part) => typeof part !== 'symbol'),
    message: issue.message + (issue.code === 'unrecognized_keys' ? meantKeys(issue.keys, schema) : ''),
  }));
  return { ok: false, problems };
}

/** The known fields that unknown ones may have meant: ` (did you mean "interface"?)`. */
function meantKeys(unknown: readonly string[], schema: unknown): string {
  const known = keysOf(schema);
  const meant = unknown.flatMap((key) => nearestOf(key, known) ?? []);
  return meant.length === 0 ? '' : ` (did you mean ${meant.map((key) => `"${key}"`).join(', ')}?)`;
}

/** Where a schema of zod keeps the schemas that it is made of. */
const inner = ['_zod', 'def', 'element', 'innerType', 'options', 'in', 'out', 'items', 'valueType'] as const;

/** The names of all fields of all objects in the schema. */
function keysOf(schema: unknown, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  if (Array.isArray(schema)) return schema.flatMap((one) => keysOf(one, seen));
  const fields: Record<string, unknown> = { ...schema };
  const shape = 'shape' in schema && typeof schema.shape === 'object' ? (schema.shape ?? {}) : {};
  const own = Object.entries(shape).flatMap(([key, value]) => [key, ...keysOf(value, seen)]);
  return [...own, ...inner.flatMap((name) => keysOf(fields[name], seen))];
}

/**
 * All problems in one line: `hosts[0].slots: Invalid input: expected number, received string; …`.
 */
export function problemsText(problems: readonly Problem[]): string {
  const one = ({ path, message }: Problem): string =>
    path.length === 0 ? message : `${pathText(path)}: ${message}`;
  return problems.map(one).join('; ');
}

/** The parsed data, or a TypeError that names every problem. */
export function demand<S extends z.ZodMiniType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = check(schema, value);
  if (result.ok) return result.data;
  throw new TypeError(`not a valid ${what}: ${problemsText(result.problems)}`);
}

// A TOML file, as its schema has it.
import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod/mini';
import { errorText, UserError } from '../base/errors.js';
import { check, problemsText } from '../base/validation.js';

/** UserError (usage) for a text that is no TOML, or not as `schema` has it. */
export function readToml<S extends z.ZodMiniType>(text: string, schema: S, file: string): z.output<S> {
  const result = check(schema, parsed(text, file));
  if (result.ok) return result.data;
  const problems = problemsText(result.problems.slice(0, 3));
  throw new UserError('usage', `${file} is damaged: ${problems}`, 'Make it anew, or correct it');
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ''] = errorText(error).split(' ```');
    const place = `line ${error.line}: ${what.replace(/^Invalid TOML document: /, '').slice(0, 200)}`;
    throw new UserError('usage', `${file} is no TOML: ${place}`, 'Correct it', { cause: error });
  }
}

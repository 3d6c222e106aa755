// Every tool for language models, and how one is called.
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { check, problemsText } from '../base/validation.js';
import { actTools } from './actTools.js';
import { readTools } from './readTools.js';
import type { Tool } from './tool.js';

/** In the order in which they are offered. */
export const tools: readonly Tool[] = [...readTools, ...actTools];

/** UserError (usage) for a name that no tool has. */
export function toolNamed(name: string): Tool {
  const found = tools.find((each) => each.name === name);
  if (found) return found;
  const known = tools.map((each) => each.name).join(', ');
  throw new UserError('usage', `there is no tool "${name}"`, `There are ${known}`);
}

/** What the tool takes. UserError (usage) naming what is wrong. */
export function checkedInput({ name, input }: Tool, given: unknown): unknown {
  const result = check(input, given ?? {});
  if (result.ok) return result.data;
  throw new UserError('usage', `${name} does not take that: ${problemsText(result.problems)}`, 'Correct it');
}

/** JSON schema of what the tool takes: an object. */
export function inputSchema({ input }: Tool): { type: 'object'; [key: string]: unknown } {
  const schema = Object.entries(z.toJSONSchema(input, { io: 'input', target: 'draft-7' }));
  return { ...Object.fromEntries(schema.filter(([key]) => key !== '$schema')), type: 'object' };
}

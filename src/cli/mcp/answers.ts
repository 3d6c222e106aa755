// One call of a tool: who is asked before, and the answer as text.
import { Cancelled, UserError } from '../../core/base/errors.js';
import type { Progress } from '../../core/base/progress.js';
import { boundedJson, seen } from '../../core/assist/bounded.js';
import type { ToolHost } from '../../core/assist/toolHost.js';
import { checkedInput, toolNamed } from '../../core/assist/tools.js';
import { errorWords } from '../remedies.js';

/** What a tool came to, as the protocol has it. */
export interface Answer {
  content: { type: 'text'; text: string }[];
  isError?: boolean;
  [key: string]: unknown;
}

/** Asks the user; undefined where the client cannot. */
export type Ask = (question: string) => Promise<boolean | undefined>;

/** `allowStart`: the user said beforehand that tools may act where nobody can be asked. */
export interface CallOptions {
  host: ToolHost;
  ask: Ask;
  allowStart: boolean;
}

/** Never rejects: what went wrong is an answer too. */
export async function callTool(
  name: string,
  given: unknown,
  { host, ask, allowStart }: CallOptions,
  progress: Progress,
): Promise<Answer> {
  try {
    const tool = toolNamed(name);
    const input = checkedInput(tool, given);
    if (tool.question) await agree(await tool.question(host, input), ask, allowStart);
    return text(boundedJson(await tool.run(host, input, progress)));
  } catch (error) {
    const words = error instanceof Cancelled ? 'cancelled' : seen(errorWords(error));
    return { ...text(`error: ${words}`), isError: true };
  }
}

async function agree(question: string, ask: Ask, allowStart: boolean): Promise<void> {
  const answer = await ask(question);
  if (answer === true || (answer === undefined && allowStart)) return;
  if (answer === false) throw new UserError('usage', 'the user did not agree', 'Nothing was done');
  throw new UserError(
    'usage',
    `nothing was done: "${question}" needs the user's word, and this client cannot ask for it`,
    'The user can do it in a terminal, or start the server as: trainyard mcp --allow-start',
  );
}

const text = (value: string): Answer => ({ content: [{ type: 'text', text: value }] });

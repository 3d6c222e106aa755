// What a tool for a language model is.
import type * as z from 'zod/mini';
import type { Progress } from '../base/progress.js';
import type { ToolHost } from './toolHost.js';

/** A tool, with the type of its input hidden. */
export interface Tool {
  /** Lower case with underscores. */
  readonly name: string;
  readonly title: string;
  /** For the model: what it does and gives. */
  readonly description: string;
  readonly input: z.ZodMiniType;
  /** Of a tool that changes something: what the user has to agree to. UserError. */
  readonly question?: (host: ToolHost, input: unknown) => Promise<string>;
  /** Plain data, not bounded yet. UserError, AgentError, Cancelled. */
  readonly run: (host: ToolHost, input: unknown, progress: Progress) => Promise<object>;
}

/** Who calls `question` and `run` has checked the input by `input`. */
export function tool<S extends z.ZodMiniType>(parts: {
  name: string;
  title: string;
  description: string;
  input: S;
  question?: (host: ToolHost, input: z.output<S>) => Promise<string>;
  run: (host: ToolHost, input: z.output<S>, progress: Progress) => Promise<object>;
}): Tool {
  const { question, run, ...rest } = parts;
  return {
    ...rest,
    ...(question ? { question: (host, input) => question(host, input as z.output<S>) } : {}),
    run: (host, input, progress) => run(host, input as z.output<S>, progress),
  };
}

// Errors that a person can act on, and the exit codes that docs/contracts/cli.md gives them.
import type { Advice, Remedy } from './remedy.js';
import { visible } from './visible.js';

/** The command line's exit codes. */
export const exitCodes = {
  done: 0,
  defect: 1,
  usage: 2,
  connection: 3,
  preflight: 4,
  failed: 5,
  stopped: 75,
  /** Ctrl-C outside of a run. */
  interrupted: 130,
} as const;

/** What kind of error a `UserError` is; `exitCodes` gives the exit code of each. */
export type UserErrorCode = 'usage' | 'connection' | 'preflight' | 'failed';

const sentence = (text: string): string => {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
};

/** `WHAT. WHAT TO DO.` in one line. */
function advised(what: string, hint: string): string {
  return oneLine(hint === '' ? sentence(what) : `${sentence(what)} ${sentence(hint)}`);
}

/**
 * What happened, and what to do about it. `message` reads "WHAT. WHAT TO DO." in one line, or
 * "WHAT." where a user interface has the words for what to do: see `errorWords`.
 */
export class UserError extends Error {
  override readonly name: string = 'UserError';

  constructor(
    readonly code: UserErrorCode,
    readonly what: string,
    readonly hint: Advice,
    options?: ErrorOptions,
  ) {
    super(advised(what, typeof hint === 'string' ? hint : ''), options);
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}

/** The user, or the owner of the operation, gave it up: nothing to report. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';

  constructor(what = 'cancelled') {
    super(what);
  }
}

/** By name, because an editor's extension may hold this module twice. */
export function isCancelled(error: unknown): boolean {
  return error instanceof Error && error.name === 'Cancelled';
}

/** Throws Cancelled where the signal has fired. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Cancelled();
}

/** The work, or Cancelled for this caller once the signal has fired: the work itself goes on. */
export function orCancelled<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      reject(new Cancelled());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', cancel);
    });
  });
}

/** In one line, and without control characters: a message may quote what a server said. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s*[\r\n]+\s*/g, ' ').trim());
}

/** The message of anything that was thrown, without the remedy that it may have. */
export function errorText(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error));
}

/** Asks by its fields, because an editor's extension may hold this module twice. */
function adviceOf(error: unknown): { what: string; hint: Advice } | undefined {
  if (!(error instanceof Error) || !('what' in error) || !('hint' in error)) return undefined;
  return error as Error & Pick<UserError, 'what' | 'hint'>;
}

/** The remedy of anything that was thrown, where it has one. */
export function remedyOf(error: unknown): Remedy | undefined {
  const hint = adviceOf(error)?.hint;
  return typeof hint === 'string' ? undefined : hint;
}

/** The message of anything that was thrown, its remedy in a user interface's own words. */
export function errorWords(error: unknown, wordsOf: (remedy: Remedy) => string): string {
  const advice = adviceOf(error);
  const remedy = remedyOf(error);
  return advice && remedy ? advised(advice.what, wordsOf(remedy)) : errorText(error);
}

/** The code of a Node system error (`ENOENT`), if it is one. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

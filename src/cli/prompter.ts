// What SSH asks, asked in the terminal. Without a terminal nothing is asked: the answer is no.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Cancelled, UserError } from '../core/base/errors.js';
import type { Prompter, SecretRequest, UnknownHostKey } from '../core/ssh/base/transport.js';
import { endingSignals } from './signals.js';
import type { Output } from './output.js';

/**
 * `profile`: its name, for what to do next; undefined of one that is not saved. `trustAll`: unknown
 * host keys are shown and accepted.
 */
export function terminalPrompter(output: Output, profile: string | undefined, trustAll = false): Prompter {
  let turn: Promise<unknown> = Promise.resolve(); // one question at a time
  let isOver = false; // a signal came: whoever waits for a turn is not asked any more
  const over = (): void => {
    isOver = true;
  };
  const ask = async (question: string, echo: boolean): Promise<string | undefined> => {
    const before = turn;
    const asking = before.then(() => (isOver ? undefined : askOnce(question, echo, over)));
    turn = asking.catch(() => undefined);
    return asking;
  };
  return {
    secret: async (request) => {
      if (process.stdin.isTTY) return ask(promptText(request), request.echo);
      output.note(
        `${request.user}@${request.host} asks for a ${request.kind}, and there is no terminal to ask on`,
      );
      return undefined;
    },
    trust: async (unknown) => {
      for (const key of unknown) output.note(keyText(key));
      if (trustAll) return true;
      if (process.stdin.isTTY) {
        return isYes(await ask('Trust them, and remember? Type yes: ', true));
      }
      const how =
        profile === undefined
          ? 'give the command there once more'
          : `trainyard trust ${profile} (without one: with --yes)`;
      output.note(`Compare the fingerprints, then accept them in a terminal: ${how}`);
      return false;
    },
  };
}

/** The flag of verbs that ask by demandYes. */
export const yesFlag = { name: 'yes', help: 'without asking; needed where there is no terminal to ask on' };

/**
 * Asks before something is lost or done elsewhere, unless `given` (`--yes`). `undone`: the start of
 * the error without a terminal, such as `run-1 was not deleted`. Cancelled; UserError (usage).
 */
export async function demandYes(given: boolean, question: string, undone: string): Promise<void> {
  if (given) return;
  if (!process.stdin.isTTY) {
    const what = `${undone}: there is no terminal to ask on`;
    throw new UserError('usage', what, 'Say that it may be done without a question: --yes');
  }
  if (!isYes(await askOnce(`${question} Type yes: `, true))) throw new Cancelled();
}

const isYes = (answer: string | undefined): boolean => answer?.trim().toLowerCase() === 'yes';

/** Each line says who asks: what a server writes cannot look like the question of another. */
export function promptText({ user, host, prompt }: SecretRequest): string {
  const lines = prompt.trim().replace(/:?$/, ': ').split('\n');
  return lines.map((line) => `${user}@${host}: ${line}`).join('\n');
}

function keyText({ host, address, port, type, fingerprint }: UnknownHostKey): string {
  return `unknown host key: ${host} (${address}:${port}) ${type} ${fingerprint}`;
}

/**
 * Undefined when the user gave up, when a signal came, or when the terminal was closed. A signal
 * and the terminal's end call `onSignal` first.
 */
async function askOnce(
  question: string,
  echo: boolean,
  onSignal: () => void = () => undefined,
): Promise<string | undefined> {
  process.stderr.write(question);
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const terminal = createInterface({
    input: process.stdin,
    output: echo ? process.stderr : silent,
    terminal: true,
  });
  const abort = new AbortController();
  const giveUp = (): void => {
    abort.abort();
  };
  const end = (): void => {
    onSignal();
    giveUp();
  };
  for (const signal of endingSignals) process.on(signal, end);
  process.stdin.on('error', end); // the terminal is gone; putting it back as it was fails too
  terminal.on('SIGINT', giveUp);
  terminal.on('close', giveUp);
  try {
    return await terminal.question('', { signal: abort.signal });
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined;
    throw error;
  } finally {
    terminal.close();
    process.stdin.off('error', end);
    for (const signal of endingSignals) process.off(signal, end);
    if (!echo) process.stderr.write('\n');
  }
}

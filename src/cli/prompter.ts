// What SSH asks, asked in the terminal. Without a terminal nothing is asked: the answer is no.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Prompter, SecretRequest, UnknownHostKey } from '../core/ssh/transport.js';
import type { Output } from './output.js';

/**
 * `profile`: its name, for what to do next. `trustAll`: unknown host keys are shown and accepted.
 */
export function terminalPrompter(output: Output, profile: string, trustAll = false): Prompter {
  let turn: Promise<unknown> = Promise.resolve(); // one question at a time
  const ask = async (question: string, echo: boolean): Promise<string | undefined> => {
    const before = turn;
    const asking = before.then(() => askOnce(question, echo));
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
      output.note(`Compare the fingerprints, then accept them with: trainyard trust ${profile}`);
      return false;
    },
  };
}

/** Whether the user types yes; undefined where there is no terminal to ask on. */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  return isYes(await askOnce(question, true));
}

const isYes = (answer: string | undefined): boolean => answer?.trim().toLowerCase() === 'yes';

function promptText({ user, host, prompt }: SecretRequest): string {
  return `${user}@${host}: ${prompt.trim().replace(/:?$/, ': ')}`;
}

function keyText({ host, address, port, type, fingerprint }: UnknownHostKey): string {
  return `unknown host key: ${host} (${address}:${port}) ${type} ${fingerprint}`;
}

async function askOnce(question: string, echo: boolean): Promise<string | undefined> {
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
  try {
    const abort = new AbortController();
    terminal.on('SIGINT', () => {
      abort.abort();
    });
    terminal.on('close', () => {
      abort.abort();
    });
    return await terminal.question('', { signal: abort.signal });
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined;
    throw error;
  } finally {
    terminal.close();
    if (!echo) process.stderr.write('\n');
  }
}

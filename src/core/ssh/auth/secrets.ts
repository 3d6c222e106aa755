// What the user is asked for: one question at a time, and a passphrase once for as long as the
// connections' owner lives.
import type { ParsedKey } from 'ssh2';
import { Cancelled } from '../../base/errors.js';
import { visible } from '../../base/visible.js';
import { failure } from '../base/failures.js';
import type { Ssh2 } from '../library/loadSsh2.js';
import type { Prompter, SecretRequest } from '../base/transport.js';
import { unlock } from './keyFile.js';

/**
 * Asks the user for passwords and passphrases, and keeps keys that were unlocked until `forget`.
 */
export class Secrets {
  private last: Promise<unknown> = Promise.resolve();
  private readonly unlocked = new Map<string, Promise<ParsedKey>>();

  constructor(private readonly prompter: Pick<Prompter, 'secret'>) {}

  /**
   * The prompt may be a server's: it is shown without control characters. Cancelled when the user
   * gives up.
   */
  ask(request: SecretRequest): Promise<string> {
    const asked = this.last.then(async () => {
      const answer = await this.prompter.secret({ ...request, prompt: visible(request.prompt) });
      if (answer === undefined) throw new Cancelled(`the login to ${request.host} was given up`);
      return answer;
    });
    this.last = asked.catch(() => undefined);
    return asked;
  }

  /**
   * The key behind a passphrase. Those who ask at once for the same file share one question.
   * UserError, Cancelled.
   */
  key(ssh2: Ssh2, path: string, text: string, who: { host: string; user: string }): Promise<ParsedKey> {
    const identity = `${path}\n${text}`;
    const known = this.unlocked.get(identity);
    if (known) return known;
    const asked = this.unlock(ssh2, path, text, who);
    this.unlocked.set(identity, asked);
    asked.catch(() => this.unlocked.delete(identity));
    return asked;
  }

  /** Lets all unlocked keys go. */
  forget(): void {
    this.unlocked.clear();
  }

  private async unlock(
    ssh2: Ssh2,
    path: string,
    text: string,
    who: { host: string; user: string },
  ): Promise<ParsedKey> {
    const prompt = `Passphrase of the key ${path}`;
    const passphrase = await this.ask({ ...who, kind: 'passphrase', prompt, echo: false });
    const key = unlock(ssh2, text, passphrase);
    if (key instanceof Error) {
      const hint = { kind: 'enterAgain', host: who.host } as const;
      throw failure(`the passphrase of ${path} is wrong`, hint, key);
    }
    return key;
  }
}

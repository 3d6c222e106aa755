// Puts ssh's questions to the user: host keys of all hosts in one, a key's passphrase once for all
// of them.
import { Cancelled } from '../../base/errors.js';
import type { Secrets } from '../auth/secrets.js';
import type { UnknownHostKey } from '../base/transport.js';
import { readPrompt, type Asked } from './prompts.js';

/** Passphrases that were entered, by key file; those who ask at once share one question. */
type Passphrases = Map<string, Promise<string>>;

/** What the logins of one transport share. */
export interface Shared {
  secrets: Pick<Secrets, 'ask'>;
  passphrases: Passphrases;
  /** Whether this ssh tells prompts of servers from its own. */
  marksServers: () => Promise<boolean>;
}

/** One login's questions. */
export class Conversation {
  private readonly keyFiles = new Set<string>();
  /** Why there was no answer: the user gave up, or the asking failed. */
  problem: unknown;
  /** A host key that the user did not accept. */
  distrusted: string | undefined;
  asked = false;

  constructor(
    private readonly who: Asked,
    private readonly shared: Shared,
    /**
     * Whether the user trusts a key that ssh does not know; throws where it is refused without a
     * question.
     */
    private readonly isTrusted: (key: UnknownHostKey) => Promise<boolean>,
    /** Gives way to others while a person thinks. */
    private readonly patiently: <T>(wait: () => Promise<T>) => Promise<T>,
    private readonly onGiveUp: () => void,
  ) {}

  readonly answer = async (prompt: string, hint: string): Promise<string | undefined> => {
    this.asked = true;
    try {
      return await this.patiently(() => this.put(prompt, hint));
    } catch (error) {
      this.problem ??= error;
      this.onGiveUp();
      return undefined;
    }
  };

  /** The login failed: what was entered for it may be wrong. */
  forget(): void {
    for (const path of this.keyFiles) this.shared.passphrases.delete(path);
  }

  /** Whether a passphrase was given for it. */
  get unlocked(): string | undefined {
    return [...this.keyFiles].at(-1);
  }

  private async put(prompt: string, hint: string): Promise<string | undefined> {
    const question = readPrompt(prompt, hint, this.who, await this.shared.marksServers());
    switch (question.kind) {
      case 'hostKey': {
        const trusted = await this.isTrusted(question.key);
        if (!trusted) this.distrusted = question.key.fingerprint;
        return trusted ? 'yes' : 'no';
      }
      case 'secret':
        if (question.keyFile === undefined) return this.shared.secrets.ask(question.request);
        return this.passphrase(question.keyFile, () => this.shared.secrets.ask(question.request));
      case 'notice':
        return new Promise(() => undefined); // ssh ends its program when the key was touched
      case 'unknown':
        return undefined;
    }
  }

  private passphrase(path: string, ask: () => Promise<string>): Promise<string> {
    this.keyFiles.add(path);
    const { passphrases } = this.shared;
    const known = passphrases.get(path);
    if (known) return known;
    const asked = ask();
    passphrases.set(path, asked);
    asked.catch(() => passphrases.delete(path));
    return asked;
  }
}

/** What the login ends with when the user would not go on; undefined: it was not the user. */
export function givenUp(conversation: Conversation): Error | undefined {
  const { problem } = conversation;
  if (problem === undefined) return undefined;
  return problem instanceof Error ? problem : new Cancelled();
}

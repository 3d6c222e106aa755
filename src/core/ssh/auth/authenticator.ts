// The login: which way is tried next. Keys first, then what the user is asked for; each of those
// once.
import type { AnyAuthMethod, AuthHandlerMiddleware, Client, ParsedKey, Prompt } from 'ssh2';
import { errorText, isCancelled, UserError } from '../../base/errors.js';
import type { SshConfig } from '../config/config.js';
import { failure, lastWords, NeedsOpenSsh, Refused } from '../base/failures.js';
import type { Ssh2 } from '../library/loadSsh2.js';
import type { GuardedParts } from '../library/guardedParts.js';
import type { Hash, Identities, Identity } from './identities.js';
import type { Secrets } from './secrets.js';

/** What one login needs, and what the login does to the attempt around it. */
export interface AuthenticatorOptions {
  ssh2: Ssh2;
  config: SshConfig;
  identities: Identities;
  secrets: Secrets;
  /** The login ends here. */
  onFail: (error: Error) => void;
  /** Why the user's own ssh may get in by a key that ssh2 cannot use. Left out: it cannot be used. */
  keyForOwnSsh?: (() => Promise<string | undefined>) | undefined;
  /** Wraps what may wait for a person. */
  patiently: <T>(wait: () => Promise<T>) => Promise<T>;
}

/** One login of one connection. */
export class Authenticator {
  private allowed: readonly string[] | undefined;
  private readonly keys: Identity[];
  private readonly tried: string[] = [];
  private readonly done = new Set<string>();
  private current: string | undefined;
  private banner = '';
  /** The user answered, and the server has not yet said what it thinks of it. */
  private answered = false;

  constructor(private readonly options: AuthenticatorOptions) {
    this.keys = [...options.identities.list];
  }

  readonly handler: AuthHandlerMiddleware = (_left, _partial, next) => {
    this.step().then(next, (error: unknown) => {
      this.fail(error);
    });
  };

  /**
   * Reads what the server says of each way to log in. False where ssh2 is not as expected: then
   * nobody can log in by it.
   */
  watch(client: Client, parts: GuardedParts): boolean {
    client.on('banner', (text) => (this.banner = text));
    return parts.watchRefusals(client, (methods, partial) => {
      this.allowed = methods;
      if (partial) {
        if (this.current !== undefined) this.tried.push(`${this.current} (accepted, more is wanted)`);
        this.done.clear();
        this.answered = false;
      } else if (this.current !== undefined) {
        this.tried.push(this.current);
      }
      this.current = undefined;
    });
  }

  /** What the server said before the login, for the end of a sentence. */
  get said(): string {
    return lastWords(this.banner.split('\n'));
  }

  private async step(): Promise<AnyAuthMethod> {
    const { config } = this.options;
    const username = config.user;
    if (this.allowed === undefined) return { type: 'none', username };
    if (this.answered) throw this.wrongAnswer();
    const can = (method: string): boolean => this.allowed?.includes(method) === true;
    if (can('publickey')) {
      const key = this.keys.shift();
      if (key) return this.offer(key, username);
      // Before the user is asked: ssh, too, tries its keys first.
      const own = this.once('own ssh') ? await this.options.keyForOwnSsh?.() : undefined;
      if (own !== undefined) throw new NeedsOpenSsh(config.host, own);
    }
    if (
      can('keyboard-interactive') &&
      config.methods.keyboardInteractive &&
      this.once('keyboard-interactive')
    ) {
      this.current = 'keyboard-interactive';
      return {
        type: 'keyboard-interactive',
        username,
        prompt: (name, instructions, _lang, prompts, finish) => {
          this.answerAll(name, instructions, prompts).then(finish, (error: unknown) => {
            this.fail(error);
          });
        },
      };
    }
    if (can('password') && config.methods.password && this.once('password')) {
      const prompt = `Password of ${username} on ${config.host}`;
      const password = await this.ask('password', prompt, false);
      this.current = 'password';
      return { type: 'password', username, password };
    }
    throw this.nothingLeft();
  }

  private async offer(key: Identity, username: string): Promise<AnyAuthMethod> {
    const { ssh2, patiently } = this.options;
    const publicKey = await patiently(() => key.publicKey());
    this.current = `the key ${key.label}`;
    const sign = async (data: Buffer, hash: Hash): Promise<Buffer> => patiently(() => key.sign(data, hash));
    const agent = singleKeyAgent(ssh2, publicKey, sign, (error) => {
      this.fail(error);
    });
    return { type: 'agent', username, agent };
  }

  private once(method: string): boolean {
    if (this.done.has(method)) return false;
    this.done.add(method);
    return true;
  }

  private async answerAll(name: string, instructions: string, prompts: readonly Prompt[]): Promise<string[]> {
    const answers: string[] = [];
    for (const { prompt, echo } of prompts) {
      const text = [name, instructions, prompt].map((part) => part.trim()).filter((part) => part !== '');
      answers.push(await this.ask('keyboard-interactive', text.join('\n'), echo === true));
    }
    return answers;
  }

  private async ask(
    kind: 'password' | 'keyboard-interactive',
    prompt: string,
    echo: boolean,
  ): Promise<string> {
    const { config, secrets, patiently } = this.options;
    const request = { host: config.host, user: config.user, kind, prompt, echo };
    const answer = await patiently(() => secrets.ask(request));
    this.answered = true;
    return answer;
  }

  private fail(error: unknown): void {
    if (error instanceof UserError || isCancelled(error)) {
      this.options.onFail(error as Error);
      return;
    }
    const { host } = this.options.config;
    const hint = { kind: 'connectAgain', host } as const;
    this.options.onFail(failure(`the login to ${host} failed: ${errorText(error)}`, hint, error));
  }

  private wrongAnswer(): UserError {
    const { config } = this.options;
    return new Refused(
      `${config.host} refused the ${this.tried.at(-1) === 'password' ? 'password' : 'answer'} of ${config.user} (${this.story()})${this.said}`,
      { kind: 'enterAgain', host: config.host },
    );
  }

  private nothingLeft(): UserError {
    const { config } = this.options;
    return new Refused(`${config.host} does not let ${config.user} in (${this.story()})${this.said}`, {
      kind: 'chooseKeyFile',
      host: config.host,
    });
  }

  /** Which ways were tried, and which the server allows. */
  private story(): string {
    const { problems } = this.options.identities;
    const tried = this.tried.length === 0 ? 'nothing to try' : `tried: ${this.tried.join(', ')}`;
    const left = problems.length === 0 ? '' : `; not used: ${problems.join(', ')}`;
    return `${tried}${left}; the server allows: ${this.allowed?.join(', ') ?? 'unknown'}`;
  }
}

/** ssh2 signs only through agents where signing takes its time. */
function singleKeyAgent(
  { BaseAgent }: Ssh2,
  key: ParsedKey,
  sign: (data: Buffer, hash: Hash) => Promise<Buffer>,
  onFail: (error: unknown) => void,
): InstanceType<typeof BaseAgent> {
  class SingleKeyAgent extends BaseAgent<ParsedKey> {
    override getIdentities(reply: (error: undefined, keys: ParsedKey[]) => void): void {
      reply(undefined, [key]);
    }

    override sign(
      _key: ParsedKey,
      data: Buffer,
      options: { hash?: Hash } | ((error: undefined, signature: Buffer) => void),
      reply?: (error: undefined, signature: Buffer) => void,
    ): void {
      const done = typeof options === 'function' ? options : reply;
      const hash = typeof options === 'function' ? undefined : options.hash;
      sign(data, hash).then((signature) => done?.(undefined, signature), onFail);
    }
  }
  return new SingleKeyAgent();
}

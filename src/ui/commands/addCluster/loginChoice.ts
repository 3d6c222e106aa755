// The first password that a new cluster asks for is a question with other answers too: no key was
// taken, and a key may be what the user wants.
import * as vscode from 'vscode';
import type { Prompter, SecretRequest, UnknownHostKey } from '../../../core/ssh/base/transport.js';

/** How somebody wants to log in. */
export type LoginWay = 'password' | 'key' | 'agent';

interface Item extends vscode.QuickPickItem {
  way: LoginWay;
}

const isPassword = ({ kind, prompt }: SecretRequest): boolean =>
  kind === 'password' || (kind === 'keyboard-interactive' && /^\s*password\b/im.test(prompt));

/** Asks as `inner` does, but for the way first, until `settle`. */
export class LoginChoice implements Prompter {
  private chosen: Promise<LoginWay | undefined> | undefined;
  private answer: { way: LoginWay; host: string } | undefined;
  private settled = false;

  constructor(private readonly inner: Prompter) {}

  /** What was chosen in place of a password. */
  get instead(): { way: LoginWay; host: string } | undefined {
    return this.answer?.way === 'password' ? undefined : this.answer;
  }

  /** From now on everything is asked at once. */
  settle(): void {
    this.settled = true;
  }

  async secret(request: SecretRequest): Promise<string | undefined> {
    if (!this.settled && isPassword(request)) {
      this.chosen ??= askWay(request);
      const way = await this.chosen;
      this.answer ??= way && { way, host: request.host };
      if (way !== 'password') return undefined;
    }
    return this.inner.secret(request);
  }

  trust(unknown: readonly UnknownHostKey[]): Promise<boolean> {
    return this.inner.trust(unknown);
  }
}

async function askWay({ host, user }: SecretRequest): Promise<LoginWay | undefined> {
  const items: Item[] = [
    { label: '$(lock) Enter a Password', description: `of ${user} on ${host}`, way: 'password' },
    { label: '$(key) Choose a Key File…', description: 'the private key that the host knows', way: 'key' },
    { label: '$(refresh) Try the Key Agent Again', description: 'after ssh-add in a terminal', way: 'agent' },
  ];
  const title = `Log In: ${user}@${host}`;
  const placeHolder = 'None of your keys was taken. How do you log in?';
  return (await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true }))?.way;
}

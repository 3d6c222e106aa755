// What SSH asks, asked in the editor.
import * as vscode from 'vscode';
import type { Prompter, SecretRequest, UnknownHostKey } from '../core/ssh/base/transport.js';

const trustIt = 'Trust and Connect';

const secretTitles = {
  password: 'Password',
  passphrase: 'Passphrase',
  'keyboard-interactive': 'Log In',
} satisfies Record<SecretRequest['kind'], string>;

export function editorPrompter(): Prompter {
  return {
    secret: async ({ host, user, kind, prompt, echo }) =>
      vscode.window.showInputBox({
        title: `${secretTitles[kind]}: ${user}@${host}`,
        prompt,
        password: !echo,
        ignoreFocusOut: true,
      }),
    trust: async (unknown) => {
      const count = unknown.length === 1 ? 'this host' : `these ${unknown.length} hosts`;
      const answer = await vscode.window.showWarningMessage(
        `Trainyard does not know the keys of ${count} yet.`,
        {
          modal: true,
          detail: `${unknown.map(keyLine).join('\n')}\n\nCompare the fingerprints with those that the administrator of the cluster gives.`,
        },
        trustIt,
      );
      return answer === trustIt;
    },
  };
}

function keyLine({ host, address, port, type, fingerprint }: UnknownHostKey): string {
  const where = port === 22 && address === host ? host : `${host} (${address}:${port})`;
  return `${where}  ${type}  ${fingerprint}`;
}

// What ssh asks, from the words in which it asks it.
import { isIP } from 'node:net';
import type { SecretRequest, UnknownHostKey } from '../base/transport.js';

/** A question of ssh, understood as far as Trainyard may answer it. */
export type Question =
  | { kind: 'hostKey'; key: UnknownHostKey }
  | { kind: 'secret'; request: SecretRequest; keyFile: string | undefined }
  /** Something to do, such as touching a security key: it goes away by itself. */
  | { kind: 'notice' }
  /** Nothing that Trainyard may answer. */
  | { kind: 'unknown' };

/** Whose login ssh asks about. */
export interface Asked {
  host: string;
  user: string;
}

/**
 * `hint` is SSH_ASKPASS_PROMPT. `marks`: this ssh puts "(user@host) " before what a server asks, so
 * that the rest is its own. Where it does not, anything may be a server's, and is asked as such.
 */
export function readPrompt(prompt: string, hint: string, who: Asked, marks: boolean): Question {
  if (hint === 'none') return { kind: 'notice' };
  if (prompt.startsWith('The authenticity of host ') && prompt.includes('(yes/no')) {
    const key = unknownKey(prompt);
    return key ? { kind: 'hostKey', key } : { kind: 'unknown' };
  }
  if (prompt.includes('(yes/no') || hint === 'confirm') return { kind: 'unknown' };
  const text = prompt.trim().replace(/:$/, '');
  const secret = (kind: SecretRequest['kind'], more: Partial<Asked> = {}): Question => ({
    kind: 'secret',
    request: { ...who, ...more, kind, prompt: text, echo: false },
    keyFile: marks ? /^Enter passphrase for (?:\S+ )?key '(.+)'$/.exec(text)?.[1] : undefined,
  });
  const [, login, there] = /^\(([^()\s]+)@([^()\s@]+)\) /.exec(text) ?? [];
  if (!marks) return secret('keyboard-interactive');
  if (login !== undefined && there !== undefined) {
    return secret('keyboard-interactive', { user: login, host: there });
  }
  if (/^Enter (passphrase|PIN) for /.test(text)) return secret('passphrase');
  const [, user, host] = /^(.+)@(\S+)'s password$/.exec(text) ?? [];
  if (user !== undefined && host !== undefined) return secret('password', { user, host });
  return secret('keyboard-interactive');
}

function unknownKey(prompt: string): UnknownHostKey | undefined {
  const [, name, ip] =
    /^The authenticity of host '(.+?)(?: \((.*)\))?' can't be established/.exec(prompt) ?? [];
  const [, type, fingerprint] = /^(\S+) key fingerprint is:? (SHA256:[A-Za-z0-9+/=]+)/m.exec(prompt) ?? [];
  if (name === undefined || type === undefined || fingerprint === undefined) return undefined;
  const { host, port } = splitPort(name);
  const { host: address } = splitPort(ip ?? '');
  return { host, port, type, fingerprint, address: isIP(address) === 0 ? host : address };
}

/** `[host]:port`, as known_hosts writes it. */
function splitPort(name: string): { host: string; port: number } {
  const [, host, port] = /^\[(.+)\]:(\d+)$/.exec(name) ?? [];
  return host === undefined ? { host: name, port: 22 } : { host, port: Number(port) };
}

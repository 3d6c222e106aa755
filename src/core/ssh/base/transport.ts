// What the rest of the core knows of SSH. Behind it stands ssh2, the user's own `ssh`, or the ssh
// of a cluster's head (throughHead.ts).
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Disposable, Event } from '../../base/lifecycle.js';

/** One program on the other side, as its three pipes. Whoever asked for the channel disposes it. */
export interface SshChannel extends Disposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the channel and its pipes are gone. */
  readonly closed: Promise<{ code: number | null; signal: string | null }>;
}

/** Of a terminal, in characters, and its kind, for example `xterm-256color`. */
export interface TerminalSize {
  columns: number;
  rows: number;
  term: string;
}

/** A login shell in a terminal. Its size is in characters. */
export interface SshShell extends SshChannel {
  resize(columns: number, rows: number): void;
}

/**
 * A connection to one host, logged in. Whoever asked for it disposes it, and its channels with it.
 * What opens a channel rejects with UserError (connection).
 */
export interface SshConnection extends Disposable {
  /** For messages: the host as the profile names it. */
  readonly where: string;
  /** The name or address that the SSH configuration has for it; `where` where it has none. */
  readonly hostName: string;
  /** Fires once, when the connection is lost; not for `dispose`. */
  readonly onClose: Event<Error>;
  readonly isClosed: boolean;
  /** Runs a command by the user's login shell there. */
  exec(command: string): Promise<SshChannel>;
  shell(size: TerminalSize): Promise<SshShell>;
  /**
   * A connection from that host to `host` and `port`; ForwardingForbidden where its sshd forbids
   * it.
   */
  forwardTcp(host: string, port: number): Promise<Duplex>;
  /** A connection to a Unix socket of that host; ForwardingForbidden where its sshd forbids it. */
  forwardUnix(path: string): Promise<Duplex>;
}

/** A question to the user. `echo`: what is typed may be shown. */
export interface SecretRequest {
  host: string;
  user: string;
  kind: 'password' | 'passphrase' | 'keyboard-interactive';
  prompt: string;
  echo: boolean;
}

/** A host key that no file of known hosts has. `fingerprint` is `SHA256:` and base64. */
export interface UnknownHostKey {
  host: string;
  address: string;
  port: number;
  type: string;
  fingerprint: string;
}

/** What the user is asked, and where answers come from. */
export interface Prompter {
  /** A password, passphrase or one-time code; undefined: the user gave up. */
  secret(request: SecretRequest): Promise<string | undefined>;
  /** Unknown host keys, all of a cluster at once; true: trust them. */
  trust(unknown: readonly UnknownHostKey[]): Promise<boolean>;
}

/** A host as a profile names it. */
export interface SshTarget {
  host: string;
  port?: number;
  user?: string;
  identityFile?: string;
  proxyJump?: string;
}

/**
 * Makes connections, and asks the user what they need. Its owner disposes it with everything that
 * it shares between connections.
 */
export interface SshTransport extends Disposable {
  /** The caller owns the connection. UserError (connection, usage), Cancelled. */
  connect(target: SshTarget, options: { signal?: AbortSignal }): Promise<SshConnection>;
}

// What the rest of the core knows of SSH. Behind it stands ssh2, or the user's own `ssh`.
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Disposable, Event } from '../../base/lifecycle.js';

export interface SshChannel extends Disposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the channel and its pipes are gone. */
  readonly closed: Promise<{ code: number | null; signal: string | null }>;
}

export interface SshShell extends SshChannel {
  resize(columns: number, rows: number): void;
}

export interface SshConnection extends Disposable {
  /** For messages: the host as the profile names it. */
  readonly where: string;
  /** Fires once, when the connection is lost; not for `dispose`. */
  readonly onClose: Event<Error>;
  readonly isClosed: boolean;
  exec(command: string): Promise<SshChannel>;
  shell(size: { columns: number; rows: number; term: string }): Promise<SshShell>;
  forwardTcp(host: string, port: number): Promise<Duplex>;
  forwardUnix(path: string): Promise<Duplex>;
}

export interface SecretRequest {
  host: string;
  user: string;
  kind: 'password' | 'passphrase' | 'keyboard-interactive';
  prompt: string;
  echo: boolean;
}

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

export interface SshTransport extends Disposable {
  connect(target: SshTarget, options: { signal?: AbortSignal }): Promise<SshConnection>;
}

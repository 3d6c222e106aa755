export interface SshdProgram {
  path: string;
  libraries: string[];
  /** Lets one sshd see another home and shell for the user. */
  wrapper: string | undefined;
  /** Options that name programs which newer versions start. */
  helpers: [string, string][];
}

export interface SshdOptions {
  address: string;
  port: number;
  home: string;
  /** Host key, configuration and log; a folder used again keeps its host key. */
  stateDir: string;
  /** One public key a line. */
  authorizedKey: string;
  /** The login shell, when it is not the user's own. */
  shell?: string;
  /** Lines of sshd_config that stand before the others, so theirs are the values that count. */
  extraConfig?: string[];
  /** For every session. */
  environment?: Record<string, string>;
  /** What the command line begins with, for example `ip netns exec NAME`. */
  prefix?: string[];
}

export interface Sshd {
  address: string;
  port: number;
  pid: number;
  log: string;
  /** SHA256:… */
  hostKeyFingerprint: string;
  /** As a line of `.pub`. */
  hostKey: string;
  stop(): Promise<void>;
}

export declare function ensureSshd(): SshdProgram;
export declare function ensureKey(path: string, comment: string): string;
export declare function startSshd(options: SshdOptions): Promise<Sshd>;

import type { Sshd } from './sshd.mjs';

export interface PracticeOptions {
  /** How many; 3 when left out. */
  nodes?: number;
  /** Where homes and keys stay; a folder of the user's cache when left out. */
  dir?: string;
  port?: number;
  portRange?: string;
  extraConfig?: string[];
  shell?: string;
  /** For the sessions of each node, in their order. */
  environments?: Record<string, string>[];
}

export interface PracticeNode extends Sshd {
  name: string;
  home: string;
}

export interface PracticeHost {
  host: string;
  port: number;
  user: string;
  slots: number;
  identityFile: string;
}

export interface PracticeCluster {
  nodes: PracticeNode[];
  port: number;
  identityFile: string;
  knownHosts: string;
  profile: { name: string; kind: 'ssh'; hosts: PracticeHost[]; interface: string; portRange: string };
  stop(): Promise<void>;
}

export declare function startPracticeCluster(options?: PracticeOptions): Promise<PracticeCluster>;

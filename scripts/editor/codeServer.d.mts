export interface CodeServerFolders {
  extensionsDir: string;
  userDataDir: string;
}

export interface CodeServerOptions extends CodeServerFolders {
  port?: number;
  folder?: string;
  settings?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface CodeServer {
  url: string;
  log: string;
  ended: Promise<void>;
  dispose(): Promise<void>;
}

export declare function ensureCodeServer(): { node: string; entry: string };
export declare function linkExtension(extensionsDir: string, name: string, folder: string): void;
export declare function listExtension(extensionsDir: string, folder: string): void;
export declare function installVsix(vsix: string, folders: CodeServerFolders): void;
export declare function startCodeServer(options: CodeServerOptions): Promise<CodeServer>;

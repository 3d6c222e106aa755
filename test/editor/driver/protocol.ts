// What a test outside the editor can ask of the driver inside its extension host. One request a
// connection, one line each way.

export const extensionId = 'trainyard.trainyard';

/** One test of the suite that runs inside. */
export interface HostTest {
  title: string;
  error?: string;
  skipped?: boolean;
}

/** How a task's process ended. */
export interface TaskEnd {
  name: string;
  code: number | undefined;
}

export interface Methods {
  /** Runs any command; what it returns must be JSON. */
  command: { params: { id: string; args?: unknown[] }; result: unknown };
  commands: { params: Record<string, never>; result: string[] };
  isActive: { params: Record<string, never>; result: boolean };
  /** How long it took until our extension was active: reading the module and `activate()`. */
  activate: { params: Record<string, never>; result: { ms: number; wasActive: boolean } };
  /** Our extension's own account of what its views show. */
  snapshot: { params: Record<string, never>; result: unknown };
  /** `active`: it is seen. `focused`: its group of tabs, at `column`, is the one that keys go to. */
  tabs: {
    params: Record<string, never>;
    result: { label: string; active: boolean; focused: boolean; column: number }[];
  };
  /** Tasks that have ended in this host, the first one first. */
  tasks: { params: Record<string, never>; result: TaskEnd[] };
  setting: { params: { key: string; value: unknown }; result: null };
  /** Runs a bundle that exports `run(): Promise<HostTest[]>`. */
  suite: { params: { bundle: string }; result: HostTest[] };
}

export type Method = keyof Methods;

export interface Request {
  method: Method;
  params: unknown;
}

export type Reply = { result: unknown } | { error: string };

/** The file beside the sockets that names the one of the newest extension host. */
export interface HostFile {
  pid: number;
  socket: string;
}

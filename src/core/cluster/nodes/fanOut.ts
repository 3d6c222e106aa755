// The same act on several nodes at once: a command, or files put there.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorText, UserError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { Progress } from '../../base/progress.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { LineCutter, lineLimit, type HostLine } from './hostLines.js';
import { basename, dirname, type NodePath } from '../../base/nodePath.js';
import { Relay } from '../../setup/relay.js';
import type { SshNode } from './sshNode.js';

/**
 * How a command ended on one host. `code` is its exit code, null where a signal ended it or where
 * `error` says why it never ran.
 */
export interface HostEnding {
  host: string;
  code: number | null;
  signal: string | null;
  /** Why it could not be run there at all. */
  error: unknown;
}

/**
 * Runs `argv` on each node, without a shell. Lines come as they are printed, long ones cut; a host
 * that fails does not end the others. It begins in `cwd`, which is there, or in the home folder.
 */
export function runOnAll(
  nodes: readonly SshNode[],
  argv: readonly string[],
  onLine: (line: HostLine) => void,
  signal?: AbortSignal,
  cwd?: NodePath,
): Promise<HostEnding[]> {
  const streams = ['stdout', 'stderr'] as const;
  const limit = lineLimit(nodes.length * streams.length);
  return Promise.all(
    nodes.map(async (node) => {
      const host = node.name;
      let give: (() => void) | undefined;
      try {
        const more = { ...(signal ? { signal } : {}), ...(cwd === undefined ? {} : { cwd }) };
        const channel = await node.run(argv, more);
        give = () => {
          channel.dispose();
        };
        signal?.addEventListener('abort', give, { once: true });
        const cutters = streams.map((stream) => {
          const cutter = new LineCutter(limit, (line) => {
            onLine({ host, stream, ...line });
          });
          channel[stream].on('data', (chunk: Buffer) => {
            cutter.push(chunk);
          });
          return cutter;
        });
        channel.stdin.end();
        const { code, signal: ended } = await channel.closed;
        for (const cutter of cutters) cutter.end();
        return { host, code, signal: ended, error: undefined };
      } catch (error) {
        return { host, code: null, signal: null, error };
      } finally {
        if (give) signal?.removeEventListener('abort', give);
      }
    }),
  );
}

/**
 * Puts a file or a folder's content on each node: on the first from this machine, on the others
 * from node to node. A folder's files go below `to`; a file becomes `to`, or goes into it when that
 * ends with a slash. Each file appears whole or not at all. UserError (usage, connection,
 * preflight), Cancelled. Returns how many files each node got.
 */
export async function copyToAll(
  { profile, logger }: { profile: Profile; logger: Logger },
  nodes: readonly SshNode[],
  from: string,
  to: NodePath,
  progress: Progress = {},
): Promise<number> {
  const source = resolve(from);
  const named = !(await isFolderHere(source)) && !to.endsWith('/');
  const target = named ? { to: dirname(to), as: basename(to) } : { to };
  const relay = new Relay({ profile, from: source, target, onlyOne: nodes.length === 1, logger });
  let done = 0;
  try {
    const counts = await Promise.all(
      nodes.map(async (node) => {
        const { files } = await relay.deliver(node, progress);
        progress.onProgress?.(`${++done} of ${nodes.length} nodes have it`);
        return files;
      }),
    );
    return Math.max(0, ...counts);
  } finally {
    relay.dispose();
  }
}

/** Of a path of this machine. UserError (usage) where nothing is there. */
export async function isFolderHere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new UserError('usage', `${path} cannot be copied: ${errorText(error)}`, 'Name a file or a folder');
  }
}

// Runs the commands that mend what a check found.
import { fixCommand, type Fix } from '../../check/fixes.js';
import { runOnAll } from './fanOut.js';
import { lineText } from './hostLines.js';
import type { SshNode } from './sshNode.js';

/** How the command of a fix ended on a node. */
export interface Fixed {
  row: string;
  host: string;
  command: string;
  /** Its exit code; null where a signal ended it, or where `error` says why it never ran. */
  code: number | null;
  /** The last line that it printed, or empty. */
  said: string;
  error: unknown;
}

/** Runs each fix on its nodes, one fix after another. A node that fails does not end the others. */
export async function applyFixes(
  nodes: readonly SshNode[],
  fixes: readonly Fix[],
  signal?: AbortSignal,
): Promise<Fixed[]> {
  const all: Fixed[] = [];
  for (const { row, remedy, hosts } of fixes) {
    const last = new Map<string, string>();
    const chosen = nodes.filter(({ name }) => hosts.includes(name));
    const endings = await runOnAll(
      chosen,
      fixCommand(remedy),
      (line) => {
        const text = lineText(line).trim();
        if (text !== '') last.set(line.host, text);
      },
      signal,
    );
    const { command } = remedy;
    all.push(
      ...endings.map(({ host, code, error }) => ({
        ...{ row, host, command, code, error },
        said: last.get(host) ?? '',
      })),
    );
  }
  return all;
}

/** What to do where sudo wants a password there. */
export const asksPassword = ({ said }: Fixed): boolean => said.startsWith('sudo: ');

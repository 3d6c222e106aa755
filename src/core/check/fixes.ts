// Which rows of a check a command on the node mends.
import type { CheckResult } from '../base/checks.js';
import type { CommandRemedy } from '../base/remedy.js';

/** A command that mends a row of a check on some nodes. */
export interface Fix {
  row: string;
  remedy: CommandRemedy;
  /** The profile's names of them. */
  hosts: readonly string[];
}

/** In the order of the results. Nodes that one command mends share a fix. */
export function fixesOf(results: readonly CheckResult[]): Fix[] {
  const fixes = new Map<string, { row: string; remedy: CommandRemedy; hosts: string[] }>();
  for (const { name: row, hint: remedy, host } of results) {
    if (typeof remedy === 'string' || remedy.kind !== 'runCommand' || host === undefined) continue;
    const key = JSON.stringify([row, remedy]);
    const fix = fixes.get(key) ?? { row, remedy, hosts: [] };
    fix.hosts.push(host);
    fixes.set(key, fix);
  }
  return [...fixes.values()];
}

/** What /bin/sh is given there: by sudo, without a question, where only root may do it. */
export function fixCommand({ command, asRoot }: CommandRemedy): string[] {
  const own = 'exec /bin/sh -c "$1"';
  const byRoot = `[ "$(id -u)" = 0 ] || exec sudo -n -- /bin/sh -c "$1"; ${own}`;
  return ['/bin/sh', '-c', asRoot ? byRoot : own, 'fix', command];
}

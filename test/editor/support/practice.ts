// A practice cluster as an editor test has it: in the profiles of its workbench, or in the SSH
// configuration of the one who uses the editor.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { startPracticeCluster, type PracticeCluster } from '../../../scripts/practice/practice.mjs';
import { linkRuntime } from '../../cluster/support/hosts.js';
import type { Workbench } from './workbench.js';

/** Nodes with homes of their own in `dir`, and the runtime that other tests made before. */
export function startNodes(dir: string, nodes: number): Promise<PracticeCluster> {
  for (let index = 1; index <= nodes; ++index)
    linkRuntime(join(dir, `practice-${index}`, 'home', '.trainyard'));
  return startPracticeCluster({ nodes, dir });
}

/** Adds a profile to those of the workbench. */
export async function addProfile(workbench: Workbench, profile: object): Promise<void> {
  const file = join(workbench.folder, 'home/profiles.json');
  const { profiles } = JSON.parse(readFileSync(file, 'utf8')) as { profiles: object[] };
  await workbench.writeFile(file, JSON.stringify({ version: 1, profiles: [...profiles, profile] }));
}

/** The keys of the nodes count as reviewed. */
export function trustNodes({ folder }: Workbench, { knownHosts }: PracticeCluster): void {
  copyFileSync(knownHosts, join(folder, 'home/known_hosts'));
}

/**
 * Makes a home in `dir` whose SSH configuration names the first nodes so, after the lines `more`.
 * Returns what the editor's environment has then.
 */
export function homeWithHosts(
  dir: string,
  cluster: PracticeCluster,
  names: readonly string[],
  more: readonly string[] = [],
): Record<string, string> {
  const { port, identityFile, nodes, profile } = cluster;
  const home = join(dir, 'me');
  const bin = join(dir, 'bin');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  mkdirSync(bin);
  const lines = names.flatMap((name, index) => [
    ...[`Host ${name}`, `  HostName ${nodes[index]?.address ?? ''}`, `  Port ${port}`],
    ...[`  User ${profile.hosts[0]?.user ?? ''}`, `  IdentityFile ${identityFile}`],
  ]);
  const config = join(home, '.ssh/config');
  writeFileSync(config, [...more, ...lines, ''].join('\n'));
  // ssh takes the home folder from the list of users, and this one is nobody's.
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F ${config} "$@"\n`, { mode: 0o755 });
  // The editor takes its variables from a login shell.
  writeFileSync(join(home, '.profile'), `PATH=${bin}:$PATH\n`);
  return {
    HOME: home,
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    SSH_AUTH_SOCK: '',
  };
}

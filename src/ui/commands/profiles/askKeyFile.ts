// Which private key: one of the user's own folder, one that is typed, or one that is looked for.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { Host } from '../../../core/contracts/profileSchema.js';
import { privateKeys } from '../../../core/ssh/auth/privateKeys.js';
import { pickOrType } from '../pickOrType.js';

interface Item extends vscode.QuickPickItem {
  /** Undefined: a file is chosen by the editor's own dialog. */
  path: string | undefined;
}

const otherFile: Item = { label: '$(folder-opened) Another File…', alwaysShow: true, path: undefined };

/** `hosts` with the key that is chosen for `named` of them. Undefined: it was given up. */
export async function withChosenKey(
  title: string,
  hosts: readonly Host[],
  named: readonly Host[],
): Promise<Host[] | undefined> {
  const identityFile = await askKey(title, named);
  return identityFile === undefined ? undefined : withKey(hosts, named, identityFile);
}

/** The key for these hosts, as a path; undefined where it was given up. */
export function askKey(title: string, named: readonly Host[]): Promise<string | undefined> {
  return askKeyFile(title, `The key for ${list(named)}`);
}

/** `hosts` with this key for those that have the name of one of `named`. */
export function withKey(hosts: readonly Host[], named: readonly Host[], identityFile: string): Host[] {
  const names = new Set(named.map(({ host }) => host));
  return hosts.map((each) => (names.has(each.host) ? { ...each, identityFile } : each));
}

/** The hosts that log in by the same key as this one; all where it is none of them. */
export function hostsOfKey(hosts: readonly Host[], name: string | undefined): Host[] {
  const one = hosts.find(({ host }) => host === name);
  return hosts.filter(({ identityFile }) => !one || identityFile === one.identityFile);
}

function list(hosts: readonly Host[]): string {
  const names = hosts.map(({ host }) => host);
  return names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
}

/** The path as profiles have it: below the home folder with `~`. */
async function askKeyFile(title: string, placeholder: string): Promise<string | undefined> {
  const known = (await privateKeys()).map(({ path, about }): Item => ({
    label: `$(key) ${short(path)}`,
    description: about,
    path,
  }));
  const item = await pickOrType({ title, placeholder }, [...known, otherFile], (path) =>
    /^(~?[\\/]|[A-Za-z]:[\\/])./.test(path)
      ? { label: `$(key) ${path}`, description: 'this file', path }
      : undefined,
  );
  if (!item) return undefined;
  if (item.path !== undefined) return short(item.path);
  const [file] = (await vscode.window.showOpenDialog({ title, openLabel: 'Choose' })) ?? [];
  return file && short(file.fsPath);
}

function short(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

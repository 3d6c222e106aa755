// Import Profile: from a hosts file, from the SSH configuration, or one that the workspace brings.
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Host } from '../../../core/contracts/profileSchema.js';
import { parseHosts, seenFromHere } from '../../../core/profiles/import.js';
import { configuredHosts } from '../../../core/ssh/config/configuredHosts.js';
import type { Ui } from '../ui.js';
import { askName } from './askName.js';
import { importShared, sharedProfiles } from './importShared.js';
import { problemOf } from '../problemOf.js';
import { save } from './saveProfile.js';

/** From a hosts file, from hosts of the user's own SSH configuration, or from the workspace. */
export async function importProfile(ui: Ui): Promise<void> {
  const configured = await configuredHosts();
  const shared = await sharedProfiles();
  const fromFile = { label: 'A hosts file…', run: () => importHostsFile(ui) };
  const fromConfig = { label: 'Hosts of your SSH configuration…', run: () => importHosts(ui, configured) };
  const fromWorkspace = { label: 'A profile of this workspace…', run: () => importShared(ui, shared) };
  const choices = [
    fromFile,
    ...(configured.length === 0 ? [] : [fromConfig]),
    ...(shared.length === 0 ? [] : [fromWorkspace]),
  ];
  const title = 'Import Profile';
  const choice = choices.length === 1 ? fromFile : await vscode.window.showQuickPick(choices, { title });
  await choice?.run();
}

async function importHosts(ui: Ui, configured: string[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(configured, {
    title: 'Import Profile',
    placeHolder: 'Which hosts? The first one is the head',
    canPickMany: true,
  });
  if (!chosen || chosen.length === 0) return;
  const name = await askName(ui, 'Import Profile', 'lab');
  if (name !== undefined) await save(ui, { name, kind: 'ssh', hosts: chosen.map((host) => ({ host })) });
}

async function importHostsFile(ui: Ui): Promise<void> {
  const hosts = await hostsOfFile();
  const name = hosts && (await askName(ui, 'Import Profile', 'lab'));
  if (name !== undefined) await save(ui, { name, kind: 'ssh', hosts });
}

/**
 * `host slots=8`, `user@host:port`, machine files with a host a line. Undefined when it was given up.
 */
export async function hostsOfFile(): Promise<Host[] | undefined> {
  const picked = await vscode.window.showOpenDialog({ title: 'Import a Hosts File', openLabel: 'Import' });
  const file = picked?.[0];
  if (!file) return undefined;
  const listed = parseHosts(await readFile(file.fsPath, 'utf8'));
  let leader: string | undefined;
  if (problemOf(() => seenFromHere(listed, undefined)) !== undefined) {
    leader = await vscode.window.showInputBox({
      title: 'Import a Hosts File',
      prompt: 'The file calls its leader localhost. How do you reach that host from here?',
      placeHolder: 'user@host:port',
      validateInput: (text) => problemOf(() => seenFromHere(listed, text)),
    });
    if (leader === undefined) return undefined;
  }
  return seenFromHere(listed, leader);
}

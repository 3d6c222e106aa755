// Commands on profiles: the file is edited, and what was changed is shown in it.
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { FieldArgument, LineArgument, ProfileArgument } from '../../contributions.js';
import { UserError } from '../../core/base/errors.js';
import { parseHosts, seenFromHere } from '../../core/profiles/import.js';
import { profileSchema, type Profile } from '../../core/contracts/profileSchema.js';
import { configuredHosts } from '../../core/ssh/config/configuredHosts.js';
import { check, problemsText } from '../../core/base/validation.js';
import { reopenTunnels } from './cluster.js';
import { pickProfile } from './pick.js';
import { offsetIn, offsetOfLine } from './profilePlace.js';
import type { Ui } from './ui.js';
import { errorWords } from '../remedies.js';

/** `place`: what the cursor is put on. */
export async function openProfiles(ui: Ui, place?: FieldArgument | LineArgument): Promise<void> {
  const path = await (await ui.services.backend()).profiles().ensureFile();
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  const editor = await vscode.window.showTextDocument(document);
  const text = document.getText();
  const at = place && ('line' in place ? offsetOfLine(text, place) : offsetIn(text, place));
  if (at === undefined) return;
  const position = document.positionAt(at);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenter);
}

const kinds = [
  {
    label: 'This machine',
    description: 'another local profile, with its own folder or slots',
    place: 'local',
  },
  { label: 'Machines reached by SSH', description: 'one or more hosts', place: 'ssh' },
  {
    label: 'A Slurm cluster',
    description: 'reached by SSH through its login node; described and kept, but nothing runs there yet',
    place: 'slurm',
  },
] as const;

export async function addProfile(ui: Ui): Promise<void> {
  const choice = await vscode.window.showQuickPick(kinds, {
    title: 'Add Profile',
    placeHolder: 'Where do its runs go?',
  });
  if (!choice) return;
  const name = await askName(ui, 'Add Profile', choice.place === 'local' ? 'local2' : 'lab');
  if (name === undefined) return;
  if (choice.place === 'local') {
    await save(ui, { name, kind: 'local' });
    return;
  }
  const hosts = await vscode.window.showInputBox({
    title: `Add Profile ${name}`,
    prompt:
      choice.place === 'slurm' ? 'The login node' : 'Hosts, as you reach them by ssh, separated by blanks',
    placeHolder: 'gpu1 me@gpu2:2222',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => parseHosts(text.replace(/[\s,]+/g, '\n'))),
  });
  if (hosts === undefined) return;
  await save(ui, { name, kind: choice.place, hosts: parseHosts(hosts.replace(/[\s,]+/g, '\n')) });
}

export async function editProfile(ui: Ui, given?: FieldArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Edit Profile', isOwn);
  if (session) await openProfiles(ui, { ...given, profile: session.profile.name });
}

export async function duplicateProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Duplicate Profile');
  if (!session) return;
  const name = await askName(ui, `Duplicate ${session.profile.name}`, `${session.profile.name}-copy`);
  if (name !== undefined) await save(ui, { ...session.profile, name });
}

export async function removeProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Remove Profile', isOwn);
  if (!session) return;
  const { name } = session.profile;
  const detail = 'Its runs stay where they are, and go on.';
  const answer = await vscode.window.showWarningMessage(
    `Remove the profile ${name}?`,
    { modal: true, detail },
    'Remove',
  );
  if (answer !== 'Remove') return;
  await (await ui.services.backend()).profiles().remove(name);
  await changed(ui);
}

/** From a hosts file, or from hosts of the user's own SSH configuration. */
export async function importProfile(ui: Ui): Promise<void> {
  const configured = await configuredHosts();
  if (configured.length === 0) {
    await importHostsFile(ui);
    return;
  }
  const fromFile = { label: 'A hosts file…', file: true };
  const fromConfig = { label: 'Hosts of your SSH configuration…', file: false };
  const choice = await vscode.window.showQuickPick([fromFile, fromConfig], { title: 'Import Profile' });
  if (choice?.file === true) await importHostsFile(ui);
  if (choice?.file !== false) return;
  const chosen = await vscode.window.showQuickPick(configured, {
    title: 'Import Profile',
    placeHolder: 'Which hosts? The first one is the head',
    canPickMany: true,
  });
  if (!chosen || chosen.length === 0) return;
  const name = await askName(ui, 'Import Profile', 'lab');
  if (name !== undefined) await save(ui, { name, kind: 'ssh', hosts: chosen.map((host) => ({ host })) });
}

/** `host slots=8`, `user@host:port`, machine files with a host a line. */
async function importHostsFile(ui: Ui): Promise<void> {
  const picked = await vscode.window.showOpenDialog({ title: 'Import a Hosts File', openLabel: 'Import' });
  const file = picked?.[0];
  if (!file) return;
  const listed = parseHosts(await readFile(file.fsPath, 'utf8'));
  let leader: string | undefined;
  if (problemOf(() => seenFromHere(listed, undefined)) !== undefined) {
    leader = await vscode.window.showInputBox({
      title: 'Import a Hosts File',
      prompt: 'The file calls its leader localhost. How do you reach that host from here?',
      placeHolder: 'user@host:port',
      validateInput: (text) => problemOf(() => seenFromHere(listed, text)),
    });
    if (leader === undefined) return;
  }
  const hosts = seenFromHere(listed, leader);
  const name = await askName(ui, 'Import Profile', 'lab');
  if (name !== undefined) await save(ui, { name, kind: 'ssh', hosts });
}

export async function connect(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Connect', ({ state }) => state.kind !== 'connected');
  if (!session) return;
  await session.machine();
  await reopenTunnels(ui, session);
  await (await ui.services.backend()).monitor.refresh();
}

export async function disconnect(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Disconnect', ({ state }) => state.kind === 'connected');
  session?.disconnect();
}

const isOwn = ({ profile }: { profile: Profile }): boolean => profile.name !== 'local';

async function askName(ui: Ui, title: string, value: string): Promise<string | undefined> {
  const taken = (await (await ui.services.backend()).profiles().list()).map(({ name }) => name);
  return vscode.window.showInputBox({
    title,
    prompt: 'A name for the profile',
    value,
    ignoreFocusOut: true,
    validateInput: (name) => {
      if (taken.includes(name)) return `There is a profile named ${name} already.`;
      const result = check(profileSchema, { name, kind: 'local' });
      return result.ok ? undefined : problemsText(result.problems);
    },
  });
}

function problemOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return errorWords(error);
  }
}

async function save(ui: Ui, profile: Profile): Promise<void> {
  const result = check(profileSchema, profile);
  if (!result.ok) throw new UserError('usage', problemsText(result.problems), 'Correct it');
  await (await ui.services.backend()).profiles().save(profile);
  await changed(ui);
  await openProfiles(ui, { profile: profile.name });
}

async function changed(ui: Ui): Promise<void> {
  (await ui.services.backend()).clusters.profilesChanged();
  await ui.clusters.refresh();
}

// Add Profile.
import * as vscode from 'vscode';
import { parseHosts } from '../../../core/profiles/import.js';
import type { Ui } from '../ui.js';
import { askName } from './askName.js';
import { problemOf } from './problemOf.js';
import { save } from './saveProfile.js';

const kinds = [
  {
    label: 'This machine',
    description: 'another local profile, with its own folder or slots',
    place: 'local',
  },
  { label: 'Machines reached by SSH', description: 'connects to them and checks them', place: 'ssh' },
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
  if (choice.place === 'ssh') {
    await vscode.commands.executeCommand('trainyard.addCluster');
    return;
  }
  const name = await askName(ui, 'Add Profile', choice.place === 'local' ? 'local2' : 'lab');
  if (name === undefined) return;
  if (choice.place === 'local') {
    await save(ui, { name, kind: 'local' });
    return;
  }
  const hosts = await vscode.window.showInputBox({
    title: `Add Profile ${name}`,
    prompt: 'The login node, as you reach it by ssh',
    placeHolder: 'me@login:2222',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => parseHosts(text.replace(/[\s,]+/g, '\n'))),
  });
  if (hosts === undefined) return;
  await save(ui, { name, kind: choice.place, hosts: parseHosts(hosts.replace(/[\s,]+/g, '\n')) });
}

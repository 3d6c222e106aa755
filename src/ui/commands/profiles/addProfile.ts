// Add Profile.
import * as vscode from 'vscode';
import type { Ui } from '../ui.js';
import { askName } from './askName.js';
import { save } from './saveProfile.js';

const kinds = [
  {
    label: 'This machine',
    description: 'another local profile, with its own folder or slots',
    isLocal: true,
  },
  { label: 'Machines reached by SSH', description: 'connects to them and checks them', isLocal: false },
  {
    label: 'A Slurm cluster',
    description: 'connects to its login node and lists its partitions',
    isLocal: false,
  },
] as const;

export async function addProfile(ui: Ui): Promise<void> {
  const choice = await vscode.window.showQuickPick(kinds, {
    title: 'Add Profile',
    placeHolder: 'Where do its runs go?',
  });
  if (!choice) return;
  if (!choice.isLocal) {
    await vscode.commands.executeCommand('trainyard.addCluster');
    return;
  }
  const name = await askName(ui, 'Add Profile', 'local2');
  if (name !== undefined) await save(ui, { name, kind: 'local' });
}

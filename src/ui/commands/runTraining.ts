// Asks for data and model, and starts a run on this machine.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Cancelled } from '../../core/errors.js';
import type { Commands } from './register.js';

const models = [
  { label: 'resnet20', description: 'small residual network for images of about 32 pixels' },
  { label: 'resnet18', description: 'residual network for images of about 224 pixels' },
  { label: 'mlp', description: 'two dense layers; quick, for trying things out' },
];

export async function runTraining({ services, runs }: Commands): Promise<void> {
  const data = await chooseData();
  if (data === undefined) return;
  const model = await vscode.window.showQuickPick(models, {
    title: 'Run Training: model',
    placeHolder: 'Which model?',
  });
  if (!model) return;
  const flags = await vscode.window.showInputBox({
    title: 'Run Training: flags',
    prompt: 'Further flags of trainer train, or none',
    value: '--epochs 10 --batch-size 32',
  });
  if (flags === undefined) return;
  const words = [
    'train',
    '--model',
    model.label,
    ...data,
    ...flags.split(/\s+/).filter((word) => word !== ''),
  ];
  const backend = await services.backend();
  const started = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Trainyard', cancellable: true },
    async (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => {
        abort.abort(new Cancelled());
      });
      const onProgress = (message: string): void => {
        progress.report({ message });
      };
      return backend.start(words, { onProgress, signal: abort.signal });
    },
  );
  await runs.refresh();
  void vscode.window.showInformationMessage(`${started.id} is running.`);
}

/** `--data …` and, where the folder has them apart, `--eval-data …`. */
async function chooseData(): Promise<string[] | undefined> {
  const choices = [
    {
      label: '$(folder-opened) Folder of images…',
      description: 'one folder a class, or train/ and validation/',
      synthetic: false,
    },
    {
      label: '$(beaker) Synthetic images',
      description: 'made up on the fly, to try the machine',
      synthetic: true,
    },
  ];
  const choice = await vscode.window.showQuickPick(choices, {
    title: 'Run Training: data',
    placeHolder: 'Which data?',
  });
  if (!choice) return undefined;
  if (choice.synthetic) return ['--data', 'synthetic'];
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
  const picked = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: 'Train on This Folder',
    ...(workspace === undefined ? {} : { defaultUri: workspace }),
  });
  const folder = picked?.[0]?.fsPath;
  if (folder === undefined) return undefined;
  const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();
  const train = join(folder, 'train');
  const validation = ['validation', 'val', 'test'].map((name) => join(folder, name)).find(isFolder);
  if (!isFolder(train)) return ['--data', folder];
  return ['--data', train, ...(validation === undefined ? [] : ['--eval-data', validation])];
}

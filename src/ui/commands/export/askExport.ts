// The questions of Export Run. Undefined: it was given up.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ExportedCheckpoints } from '../../../core/export/checkpoints.js';
import {
  experimentOf,
  projectOf,
  type Destination,
  type DestinationKind,
} from '../../../core/export/places/destination.js';
import { trackingUri } from '../../../core/export/mlflow/api.js';
import { problemOf } from '../problemOf.js';

const title = 'Export Run';

/** `id` names a file. */
export async function askDestination(id: string): Promise<Destination | undefined> {
  const items: readonly (vscode.QuickPickItem & { to: DestinationKind })[] = [
    { label: 'MLflow', description: 'a server; checkpoints too if you like', to: 'mlflow' },
    { label: 'W&B', description: "an offline folder, which W&B's own program uploads", to: 'wandb' },
    { label: 'CSV', description: 'a file with a row for each step', to: 'csv' },
    { label: 'JSON', description: 'the same, and what is known of the run', to: 'json' },
  ];
  const to = (await vscode.window.showQuickPick(items, { title, placeHolder: 'Where to?' }))?.to;
  if (to === 'mlflow') return askMlflow();
  if (to === 'wandb') return askFolder();
  return to && askFile(id, to);
}

async function askMlflow(): Promise<Destination | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt: 'Address of the MLflow server',
    value: process.env['MLFLOW_TRACKING_URI'] ?? 'http://127.0.0.1:5000',
    ignoreFocusOut: true,
    validateInput: (value) => problemOf(() => trackingUri(value)),
  });
  if (text === undefined) return undefined;
  const experiment = await vscode.window.showInputBox({
    title,
    prompt: 'Experiment of MLflow',
    value: experimentOf(process.env),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? 'Name an experiment' : undefined),
  });
  if (experiment === undefined) return undefined;
  return { to: 'mlflow', uri: trackingUri(text), experiment: experiment.trim() };
}

async function askFolder(): Promise<Destination | undefined> {
  const picked = await vscode.window.showOpenDialog({
    title: "Export Run: where W&B's folder wandb is, or is made",
    defaultUri: usualFolder(process.env['WANDB_DIR']),
    canSelectFolders: true,
    canSelectFiles: false,
    openLabel: 'Export Here',
  });
  const folder = picked?.[0]?.fsPath;
  return folder === undefined ? undefined : { to: 'wandb', folder, ...projectOf(process.env) };
}

async function askFile(id: string, to: 'csv' | 'json'): Promise<Destination | undefined> {
  const form = to.toUpperCase();
  const target = await vscode.window.showSaveDialog({
    title: `Export Run: the file of ${form}`,
    defaultUri: vscode.Uri.joinPath(usualFolder(), `${id.replace(/[^\w.-]+/g, '-')}.${to}`),
    filters: { [form]: [to] },
    saveLabel: 'Export',
  });
  return target && { to, path: target.fsPath };
}

const usualFolder = (named?: string): vscode.Uri =>
  named !== undefined && named !== ''
    ? vscode.Uri.file(named)
    : (vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir()));

export async function askCheckpoints(): Promise<ExportedCheckpoints | 'none' | undefined> {
  const items: readonly (vscode.QuickPickItem & { which: ExportedCheckpoints | 'none' })[] = [
    { label: 'No checkpoints', which: 'none' },
    { label: 'Best checkpoint', which: 'best' },
    { label: 'Newest checkpoint', which: 'last' },
    { label: 'All checkpoints', which: 'all' },
  ];
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'Checkpoints as artifacts?' }))
    ?.which;
}

/** Of a run that is under way. */
export async function askFollow(): Promise<boolean | undefined> {
  const items = [
    { label: 'What there is now', follow: false },
    { label: 'Until the run is over', follow: true },
  ];
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'How long?' }))?.follow;
}

// Open TensorBoard in Browser.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { tensorboardAddress } from '../../panels/tensorboardPanel.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

export async function openTensorBoardInBrowser(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open TensorBoard in Browser');
  if (!run) return;
  const uri = await withProgress('TensorBoard', (progress) =>
    tensorboardAddress(ui.services, run, progress, true),
  );
  await vscode.env.openExternal(uri);
}

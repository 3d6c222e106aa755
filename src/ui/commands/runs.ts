// Commands on one run.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../contributions.js';
import { UserError } from '../../core/base/errors.js';
import type { StopMode } from '../../core/contracts/runSchema.js';
import { deleteRunFolders, deletionNotes } from '../../core/follow/deletion.js';
import { isOver } from '../../core/model/runStatus.js';
import { tensorboardAddress } from '../panels/tensorboardPanel.js';
import { errorWords } from '../remedies.js';
import { plural } from '../words.js';
import { pickRun } from './pick.js';
import { withProgress } from './progress.js';
import type { Ui } from './ui.js';

export async function stopRun(ui: Ui, mode: StopMode, given?: RunArgument): Promise<void> {
  const title = mode === 'now' ? 'Stop Now' : 'Stop After a Checkpoint';
  const run = await pickRun(ui, given, title, ({ status }) => !isOver(status));
  if (!run) return;
  if (mode === 'now') {
    const answer = await vscode.window.showWarningMessage(
      `Stop ${run.id} now?`,
      { modal: true, detail: 'Steps since the last checkpoint are lost.' },
      'Stop Now',
    );
    if (answer !== 'Stop Now') return;
  }
  const backend = await ui.services.backend();
  await (await backend.machine(run.profile)).stop(run.dir, mode);
  await backend.monitor.refresh();
}

export async function openDashboard(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Dashboard');
  if (run) ui.dashboards.show(run);
}

/** Any run of any profile, also one that another window or the command line started. */
export async function attachRun(ui: Ui): Promise<void> {
  const run = await pickRun(ui, undefined, 'Attach to a Run');
  if (!run) return;
  ui.dashboards.show(run);
  await ui.checkpoints.choose(run);
}

export async function openTensorBoard(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open TensorBoard');
  if (run) ui.tensorboards.show(run);
}

export async function openTensorBoardInBrowser(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open TensorBoard in Browser');
  if (!run) return;
  const uri = await withProgress('TensorBoard', (progress) =>
    tensorboardAddress(ui.services, run, progress, true),
  );
  await vscode.env.openExternal(uri);
}

export async function openTerminal(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Terminal');
  if (run) await ui.terminals.open(run);
}

export async function revealRunFolder(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Reveal Run Folder');
  if (!run) return;
  const machine = await (await ui.services.backend()).machine(run.profile);
  if (machine.shell !== undefined) {
    const shell = 'Open Terminal';
    const chosen = await vscode.window.showInformationMessage(
      `The run's folder is on ${run.profile}: ${run.dir}`,
      shell,
      'Copy Path',
    );
    if (chosen === 'Copy Path') await vscode.env.clipboard.writeText(run.dir);
    if (chosen === shell) await ui.terminals.open(run);
    return;
  }
  // Where the window is not on the user's own machine there is no file manager to show it in.
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(run.dir));
    return;
  }
  const open = 'Open in a New Window';
  const answer = await vscode.window.showInformationMessage(run.dir, open, 'Copy Path');
  if (answer === 'Copy Path') await vscode.env.clipboard.writeText(run.dir);
  if (answer !== open) return;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(run.dir), {
    forceNewWindow: true,
  });
}

export async function copyRunFolder(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Copy Path of Run Folder');
  if (run) await vscode.env.clipboard.writeText(run.dir);
}

export async function deleteRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Delete Run', ({ status }) => isOver(status));
  if (!run) return;
  const answer = await vscode.window.showWarningMessage(
    `Delete ${run.id}?`,
    {
      modal: true,
      detail: `Its checkpoints, metrics and logs in ${run.dir} go. Other files there stay. This cannot be undone.`,
    },
    'Delete',
  );
  if (answer !== 'Delete') return;
  const backend = await ui.services.backend();
  const machine = await backend.machine(run.profile);
  const client = await machine.node.client();
  ui.tensorboards.close(run.dir);
  await client.request('tensorboard.stop', { dir: run.dir });
  ui.terminals.close(run.dir);
  const entry = await client.request('run.get', { dir: run.dir });
  const deletion = await deleteRunFolders(machine, (await backend.session(run.profile)).profile, entry);
  ui.dashboards.close(run.dir);
  await backend.monitor.refresh();
  await ui.checkpoints.refresh();
  const notes = deletionNotes(run.dir, deletion, errorWords);
  if (notes.length > 0) {
    void vscode.window.showInformationMessage(`${run.id} was deleted. ${notes.join('. ')}`);
  }
}

export async function selectRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Show Checkpoints');
  if (run) await ui.checkpoints.choose(run);
}

export async function verifyCheckpoints(ui: Ui, given?: RunArgument): Promise<void> {
  const run = given ?? ui.checkpoints.run ?? (await pickRun(ui, undefined, 'Verify Checkpoints'));
  if (!run) return;
  const { checkpoints } = await withProgress('Verifying checkpoints', async ({ signal }) => {
    const client = await (await (await ui.services.backend()).machine(run.profile)).node.client();
    const options = { timeout: 30 * 60_000, ...(signal ? { signal } : {}) };
    return client.request('checkpoint.list', { dir: run.dir, verify: true }, options);
  });
  await ui.checkpoints.refresh();
  const bad = checkpoints.filter(({ valid }) => !valid);
  if (bad.length === 0) {
    void vscode.window.showInformationMessage(
      `${plural(checkpoints.length, 'checkpoint')} of ${run.id} verified: every file has the size and SHA-256 that its manifest names.`,
    );
    return;
  }
  const names = bad.map(({ step, reason }) => `step ${step} (${reason ?? 'unknown'})`).join(', ');
  throw new UserError(
    'failed',
    `${plural(bad.length, 'checkpoint')} of ${run.id} not valid: ${names}`,
    'Resuming passes over them; delete them to free their space',
  );
}

export async function copyCheckpointPath(ui: Ui, given?: CheckpointArgument): Promise<void> {
  const dir = given?.dir ?? ui.checkpoints.run?.dir;
  const path = given?.path ?? ui.checkpoints.latest?.path;
  if (dir === undefined || path === undefined) throw new UserError('usage', 'there is no checkpoint yet', '');
  await vscode.env.clipboard.writeText(`${dir}/${path}`);
}

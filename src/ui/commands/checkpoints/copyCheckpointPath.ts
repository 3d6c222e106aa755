// Copy Path of a checkpoint.
import * as vscode from 'vscode';
import type { CheckpointArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { Ui } from '../ui.js';

export async function copyCheckpointPath(ui: Ui, given?: CheckpointArgument): Promise<void> {
  const dir = given?.dir ?? ui.checkpoints.run?.dir;
  const path = given?.path ?? ui.checkpoints.latest?.path;
  if (dir === undefined || path === undefined) throw new UserError('usage', 'there is no checkpoint yet', '');
  await vscode.env.clipboard.writeText(`${dir}/${path}`);
}

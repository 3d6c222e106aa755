// Copy Text of a row of a view.
import * as vscode from 'vscode';
import { UserError } from '../../core/base/errors.js';
import type { Ui } from './ui.js';

/** Label, description and tooltip. UserError (usage) for what is no row. */
export async function copyText({ clusters, runs, checkpoints }: Ui, row?: object): Promise<void> {
  const text = row && (clusters.textOf(row) ?? runs.textOf(row) ?? checkpoints.textOf(row));
  if (text === undefined) {
    throw new UserError('usage', 'no row was chosen', 'Use the menu of a row in a view of Trainyard');
  }
  await vscode.env.clipboard.writeText(text);
}

// Open the file of profiles.
import * as vscode from 'vscode';
import type { FieldArgument, LineArgument } from '../../../contributions.js';
import type { Ui } from '../ui.js';
import { offsetIn, offsetOfLine } from './profilePlace.js';

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

// A folder of this machine, shown where that can be done.
import * as vscode from 'vscode';

/** In the system's file manager; else the path, with what can be done with it. */
export async function showFolder(path: string): Promise<void> {
  // Where the window is not on the user's own machine there is no file manager to show it in.
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(path));
    return;
  }
  const open = 'Open in a New Window';
  const answer = await vscode.window.showInformationMessage(path, open, 'Copy Path');
  if (answer === 'Copy Path') await vscode.env.clipboard.writeText(path);
  if (answer !== open) return;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(path), { forceNewWindow: true });
}

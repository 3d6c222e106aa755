// The workspace's folder, where what it holds may be offered or run.
import * as vscode from 'vscode';

/** Undefined where there is no folder of this machine, or nobody trusts it. */
export function trustedFolder(): string | undefined {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' && vscode.workspace.isTrusted ? uri.fsPath : undefined;
}

// The presets of the workspace's folder, as the run form offers them: only where the workspace is
// trusted, and read anew when the file changes.
import * as vscode from 'vscode';
import { remedyOf } from '../../core/base/errors.js';
import { DisposableStore, type Disposable } from '../../core/base/lifecycle.js';
import type { Preset } from '../../core/contracts/presetSchema.js';
import type { WorkspaceFile } from '../../core/presets/workspaceFile.js';
import { workspacePlace } from '../../core/presets/workspacePlace.js';
import { fileOfWorkspace } from '../workspace/workspace.js';

export class FormPresets implements Disposable {
  private readonly store = new DisposableStore();
  /** Undefined where there is no folder, or nobody trusts it. */
  readonly file: WorkspaceFile | undefined;
  all: readonly Preset[] = [];
  /** What is wrong with the file. */
  problem: unknown;

  constructor(private readonly changed: () => void) {
    this.file = fileOfWorkspace();
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (!this.file || !folder) return;
    const pattern = new vscode.RelativePattern(folder, workspacePlace);
    const watcher = this.store.add(vscode.workspace.createFileSystemWatcher(pattern));
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) {
      this.store.add(event(() => void this.read()));
    }
  }

  async read(): Promise<void> {
    try {
      this.all = (await this.file?.presets()) ?? [];
      this.problem = undefined;
    } catch (error) {
      this.all = [];
      this.problem = error;
    }
    this.changed();
  }

  /** The file in the editor, at the line that is wrong. */
  async open(): Promise<void> {
    if (!this.file) return;
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(this.file.path));
    const remedy = remedyOf(this.problem);
    const line = remedy?.kind === 'correctWorkspaceFile' ? remedy.line - 1 : 0;
    const selection = new vscode.Range(line, 0, line, 0);
    await vscode.window.showTextDocument(document, { selection });
  }

  dispose(): void {
    this.store.dispose();
  }
}

// Profiles that the workspace brings are offered when the views are first used, or once somebody
// trusts it. Nothing of them is used before that.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore } from '../core/base/lifecycle.js';
import { workspacePlace } from '../core/presets/workspacePlace.js';
import type { Ui } from './commands/ui.js';
import { loadLazy } from './loadLazy.js';
import { errorWords } from './remedies.js';
import { trustedFolder } from './workspace/trustedFolder.js';

export class WorkspaceProfiles implements vscode.Disposable {
  private readonly store = new DisposableStore();
  private hasBackend = false;

  constructor(private readonly ui: Ui) {
    this.store.add(
      ui.services.onBackend(() => {
        this.hasBackend = true;
        void this.offer();
      }),
    );
    this.store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => void this.offer()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private async offer(): Promise<void> {
    const folder = trustedFolder();
    if (!this.hasBackend || folder === undefined || !existsSync(join(folder, workspacePlace))) return;
    try {
      const { offerShared } = await (await loadLazy()).commands.profiles();
      await offerShared(this.ui);
    } catch (error) {
      this.ui.services.logger.log('warn', errorWords(error));
    }
  }
}

// The profile file may be edited by hand, or by the command line: the views follow.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { Services } from './services.js';

export class ProfileWatcher implements vscode.Disposable {
  private readonly store = new DisposableStore();

  constructor(services: Services) {
    this.store.add(
      services.onBackend((backend) => {
        const folder = vscode.Uri.file(dirname(backend.profiles().path));
        const pattern = new vscode.RelativePattern(folder, 'profiles.json');
        const watcher = this.store.add(vscode.workspace.createFileSystemWatcher(pattern));
        const changed = (): void => {
          backend.clusters.profilesChanged();
        };
        for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) {
          this.store.add(event(changed));
        }
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }
}

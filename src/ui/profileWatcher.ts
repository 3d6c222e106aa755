// The profile file may be edited by hand, or by the command line: the views follow. What is wrong
// in the file is said once, until the file is right again.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { ClusterSession } from '../core/follow/clusterSession.js';
import type { Backend } from './backend.js';
import { pressRemedy, showError } from './commands/showError.js';
import type { Ui } from './commands/ui.js';
import { editorRemedy, errorWords, type RemedyButton } from './remedies.js';

/** Milliseconds for which a file must be left alone: who writes it may empty it first. */
const settleTime = 400;

export class ProfileWatcher implements vscode.Disposable {
  private readonly store = new DisposableStore();
  private isWrong = false;
  /** Names of profiles of which it was said that they are to be connected anew. */
  private readonly outdated = new Set<string>();
  private settling: NodeJS.Timeout | undefined;

  constructor(
    private readonly ui: Pick<Ui, 'services' | 'showOutput'>,
    settle = settleTime,
  ) {
    this.store.defer(() => {
      clearTimeout(this.settling);
    });
    this.store.add(
      ui.services.onBackend((backend) => {
        const folder = vscode.Uri.file(dirname(backend.profiles().path));
        const pattern = new vscode.RelativePattern(folder, 'profiles.json');
        const watcher = this.store.add(vscode.workspace.createFileSystemWatcher(pattern));
        const changed = (): void => {
          backend.clusters.profilesChanged();
          clearTimeout(this.settling);
          this.settling = setTimeout(() => void this.complain(backend), settle);
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

  /** Each profile once, until its connection is made anew. */
  private sayOutdated(sessions: readonly ClusterSession[]): void {
    for (const { profile, isOutdated } of sessions) {
      const { name } = profile;
      const isNew = isOutdated && !this.outdated.has(name);
      if (isOutdated) this.outdated.add(name);
      else this.outdated.delete(name);
      if (!isNew) continue;
      const { button } = editorRemedy({ kind: 'connectAgain', profile: name });
      if (button) void this.offer(`Profile ${name} was changed, and is connected as it was before`, button);
    }
  }

  private async offer(text: string, button: RemedyButton): Promise<void> {
    const answer = await vscode.window.showWarningMessage(text, button.title);
    if (answer === button.title) await pressRemedy(this.ui, button);
  }

  /** A file that is saved while it is typed is wrong many times in a row. */
  private async complain({ clusters }: Backend): Promise<void> {
    const wrong = await clusters.list().then(
      (sessions) => {
        this.sayOutdated(sessions);
        return clusters.complaints[0];
      },
      (error: unknown) => error,
    );
    const before = this.isWrong;
    this.isWrong = wrong !== undefined;
    if (wrong === undefined || before) return;
    this.ui.services.logger.log('warn', errorWords(wrong));
    await showError(this.ui, wrong);
  }
}

// The one tab of the run form, if it is open. After a reload the editor brings it back.
import * as vscode from 'vscode';
import { panelTypes } from '../../contributions.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import type { AskedRun } from '../../core/plan/request/commandLine.js';

/** What a form begins with: like a run, or blank but for the profile of this name. */
export type FormStart = AskedRun | string;

/** The tab as others see it. Its disposal leaves the panel to the editor. */
export interface RunFormTab extends Disposable {
  reveal(): void;
  fill(start: FormStart): void;
}

export class RunForms implements Disposable {
  private tab: RunFormTab | undefined;
  private readonly serializer: Disposable;

  /** `restore`: makes the tab again in a panel that the editor brings back. */
  constructor(restore: (panel: vscode.WebviewPanel) => Promise<void>) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes.form, {
      deserializeWebviewPanel: restore,
    });
  }

  /** Brings the tab to the front, made by `make` where there is none. `make` is told when it is gone. */
  show(start: FormStart | undefined, make: (onGone: () => void) => RunFormTab): void {
    if (this.tab) {
      this.tab.reveal();
      if (start !== undefined) this.tab.fill(start);
      return;
    }
    this.tab = make(() => {
      this.tab = undefined;
    });
  }

  /** In a panel that came back; a second one is closed. */
  adopt(panel: vscode.WebviewPanel, make: (onGone: () => void) => RunFormTab): void {
    if (this.tab) panel.dispose();
    else this.show(undefined, make);
  }

  dispose(): void {
    this.serializer.dispose();
    this.tab?.dispose();
  }
}

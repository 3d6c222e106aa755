// The one tab of the run form, if it is open.
import type { Disposable } from '../../core/base/lifecycle.js';
import type { AskedRun } from '../../core/plan/commandLine.js';

/** What a form begins with: like a run, or blank but for the profile of this name. */
export type FormStart = AskedRun | string;

/** The tab as others see it. */
export interface RunFormTab extends Disposable {
  reveal(): void;
  fill(start: FormStart): void;
}

export class RunForms implements Disposable {
  private tab: RunFormTab | undefined;

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

  dispose(): void {
    this.tab?.dispose();
  }
}

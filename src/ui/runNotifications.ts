// A notification when a run ends or is started again, unless its dashboard is what the user looks at.
import * as vscode from 'vscode';
import type { CommandId, RunArgument, Settings } from '../contributions.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { RunChange, RunChangeKind } from '../core/follow/runChanges.js';
import type { Ui } from './commands/ui.js';
import { runName } from '../core/model/runName.js';
import { duration, percent } from './words.js';

/** Characters of a reason; the whole of it is in the dashboard. */
const longestReason = 300;

const settings: Record<RunChangeKind, keyof Settings> = {
  finished: 'trainyard.notifications.finished',
  failed: 'trainyard.notifications.failed',
  interrupted: 'trainyard.notifications.failed',
  stopped: 'trainyard.notifications.stopped',
  restarted: 'trainyard.notifications.restarted',
  stalled: 'trainyard.notifications.stalled',
  'node-lost': 'trainyard.notifications.nodeLost',
  'disk-low': 'trainyard.notifications.diskLow',
  budget: 'trainyard.notifications.budget',
};

const buttons = { 'Open Dashboard': 'trainyard.openDashboard', 'Show Log': 'trainyard.openLogs' } as const;
/** Beside a run that ended early. */
const goOn = { Resume: 'trainyard.resumeRun', ...buttons, 'Clone Run…': 'trainyard.cloneRun' } as const;

export class RunNotifications implements vscode.Disposable {
  private readonly store = new DisposableStore();

  constructor(private readonly ui: Pick<Ui, 'services' | 'dashboards'>) {
    this.store.add(
      ui.services.onBackend(({ changes }) => {
        this.store.add(changes.onChange((change) => void this.show(change)));
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  private async show(change: RunChange): Promise<void> {
    const { kind, profile, run } = change;
    const { id, dir } = run.entry;
    if (this.ui.services.setting(settings[kind]) === false || this.isInFront(dir)) return;
    const offered: Record<string, CommandId> =
      kind === 'failed' || kind === 'interrupted' || kind === 'stopped' ? goOn : buttons;
    const answer = await say(kind, changeText(change), Object.keys(offered));
    const command = answer === undefined ? undefined : offered[answer];
    if (command === undefined) return;
    const argument: RunArgument = { profile, id, dir };
    await vscode.commands.executeCommand(command, argument);
  }

  private isInFront(dir: string): boolean {
    const open = this.ui.dashboards.open.find(({ run }) => run.dir === dir);
    return open?.panel.active === true && vscode.window.state.focused;
  }
}

function say(kind: RunChangeKind, text: string, titles: string[]): Thenable<string | undefined> {
  if (kind === 'failed') return vscode.window.showErrorMessage(text, ...titles);
  if (kind === 'finished' || kind === 'stopped') {
    return vscode.window.showInformationMessage(text, ...titles);
  }
  return vscode.window.showWarningMessage(text, ...titles);
}

/** `resnet20-1f2e on lab failed: rank 1 on gpu2 was killed by signal 9 (SIGKILL) at step 80`. */
function changeText({ kind, profile, run, why }: RunChange): string {
  const { entry, best } = run;
  const name = `${runName(entry)} on ${profile}`;
  const reason = why === undefined ? '' : `: ${cut(why)}`;
  switch (kind) {
    case 'finished': {
      const { started, ended } = entry.state ?? {};
      const took =
        started === undefined || typeof ended !== 'number' ? '' : ` after ${duration(ended - started)}`;
      return `${name} finished${took}${best === undefined ? '' : `, best top-1 ${percent(best.top1)}`}`;
    }
    case 'failed':
      return `${name} failed${reason}`;
    case 'stalled':
    case 'node-lost':
    case 'disk-low':
    case 'budget':
      return `${name}${reason}`;
    case 'stopped':
      return `${name} stopped${reason}`;
    case 'interrupted':
      return `${name} was interrupted: nobody supervises it any more`;
    case 'restarted': {
      const restarts = (entry.state?.generation ?? 1) - 1;
      const most = entry.run?.limits.maxRestarts;
      const count = most === undefined ? '' : ` (restart ${restarts} of ${most})`;
      return `${name} was started again${count}${reason}`;
    }
  }
}

const cut = (text: string): string =>
  text.length <= longestReason ? text : `${text.slice(0, longestReason - 1)}…`;

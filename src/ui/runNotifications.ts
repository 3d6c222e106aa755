// A notification when a run ends or is started again, unless its dashboard is what the user looks at.
import * as vscode from 'vscode';
import type { CommandId, RunArgument, Settings } from '../contributions.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { RunEntry } from '../core/contracts/agentApi.js';
import { heldSeconds } from '../core/cost/heldTime.js';
import type { RunChange, RunChangeKind } from '../core/follow/runChanges.js';
import type { Ui } from './commands/ui.js';
import { isMeasured, reportOf } from '../core/model/measured.js';
import { runName } from '../core/model/runName.js';
import { startsBy } from '../core/model/starts.js';
import { isInFront } from './panels/inFront.js';
import { duration, percent } from './figureText.js';

/** Characters of a reason; the whole of it is in the dashboard. */
const longestReason = 300;

const settings: Record<RunChangeKind, keyof Settings> = {
  finished: 'trainyard.notifications.finished',
  failed: 'trainyard.notifications.failed',
  interrupted: 'trainyard.notifications.failed',
  stopped: 'trainyard.notifications.stopped',
  restarting: 'trainyard.notifications.restarted',
  restarted: 'trainyard.notifications.restarted',
  stalled: 'trainyard.notifications.stalled',
  'node-lost': 'trainyard.notifications.nodeLost',
  'disk-low': 'trainyard.notifications.diskLow',
  budget: 'trainyard.notifications.budget',
  'bad-images': 'trainyard.notifications.badImages',
};

/** Of a run of a measurement: the measurement itself says what came of it, once. */
const quietWhenMeasured: ReadonlySet<RunChangeKind> = new Set([
  ...(['finished', 'failed', 'stopped', 'interrupted'] as const),
  ...(['restarting', 'restarted', 'bad-images'] as const),
]);

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
    if (quietWhenMeasured.has(kind) && isMeasured(run.entry)) return;
    // The page of the sweep has it, and the best trial is named at the end.
    if ((kind === 'finished' || kind === 'stopped') && reportOf(run.entry)?.kind === 'sweep') return;
    if (this.ui.services.setting(settings[kind]) === false || isInFront(this.ui.dashboards, dir)) return;
    const offered: Record<string, CommandId> =
      kind === 'failed' || kind === 'interrupted' || kind === 'stopped' ? goOn : buttons;
    const answer = await say(change, Object.keys(offered));
    const command = answer === undefined ? undefined : offered[answer];
    if (command === undefined) return;
    const argument: RunArgument = { profile, id, dir };
    await vscode.commands.executeCommand(command, argument);
  }
}

function say(change: RunChange, titles: string[]): Thenable<string | undefined> {
  const { kind, run } = change;
  const text = changeText(change);
  if (kind === 'failed') return vscode.window.showErrorMessage(text, ...titles);
  if ((kind === 'finished' || kind === 'stopped') && run.health.level === 'good') {
    return vscode.window.showInformationMessage(text, ...titles);
  }
  return vscode.window.showWarningMessage(text, ...titles);
}

/** `resnet20-1f2e on lab failed: rank 1 on gpu2 was killed by signal 9 (SIGKILL) at step 80`. */
function changeText({ kind, profile, run, why }: RunChange): string {
  const { entry, best, health } = run;
  const name = `${runName(entry)} on ${profile}`;
  const reason = why === undefined ? '' : `: ${cut(why)}`;
  // Behind the word of its end: restarts, bad images.
  const more = health.text.startsWith(`${kind},`) ? health.text.slice(kind.length) : '';
  switch (kind) {
    case 'finished': {
      const { state } = entry;
      const took = state?.ended ? ` after ${duration(heldSeconds(entry.run, state))}` : '';
      return `${name} finished${took}${more}${best === undefined ? '' : `, best top-1 ${percent(best.top1)}`}`;
    }
    case 'failed':
      return `${name} failed${reason}`;
    case 'stalled':
    case 'node-lost':
    case 'disk-low':
    case 'budget':
    case 'bad-images':
      return `${name}${reason}`;
    case 'stopped':
      // The reason of a stop at once says so itself.
      return why?.startsWith('stopped') ? `${name} ${cut(why)}${more}` : `${name} stopped${more}${reason}`;
    case 'interrupted':
      return `${name} was interrupted: nobody supervises it any more`;
    case 'restarting':
      return `${name} is started again${restartOf(entry, 1)}${reason}`;
    case 'restarted':
      return `${name} was started again${restartOf(entry, 0)}${reason}`;
  }
}

/** `more`: the restarts that come now, 0 or 1. */
function restartOf({ run, state }: RunEntry, more: 0 | 1): string {
  const most = run?.limits.maxRestarts;
  const { sinceResume } = startsBy(run, state);
  return most === undefined ? '' : ` (restart ${sinceResume + more} of ${most})`;
}

const cut = (text: string): string =>
  text.length <= longestReason ? text : `${text.slice(0, longestReason - 1)}…`;

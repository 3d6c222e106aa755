// One item for the newest run that is under way: `412 img/s · 34% · 3 min`.
import * as vscode from 'vscode';
import type { RunArgument } from '../contributions.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { RunsMonitor } from '../core/follow/runsMonitor.js';
import { hasOldFigures } from '../core/model/runHealth.js';
import { runName } from '../core/model/runName.js';
import { isOver } from '../core/model/runStatus.js';
import type { Services } from './services.js';
import { shortHealth } from './tree/describe.js';
import { duration, percent, whole } from './words.js';

export class StatusBar implements vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    vscode.window.createStatusBarItem('trainyard.run', vscode.StatusBarAlignment.Left, 10),
  );

  constructor(services: Services) {
    this.item.name = 'Trainyard Run';
    this.store.add(
      services.onBackend(({ monitor }) => {
        this.store.add(
          monitor.onChange(() => {
            this.show(monitor);
          }),
        );
      }),
    );
  }

  get text(): string | undefined {
    return this.item.text === '' ? undefined : this.item.text;
  }

  dispose(): void {
    this.store.dispose();
  }

  private show(monitor: RunsMonitor): void {
    const found = monitor.all.find(({ run }) => !isOver(run.status) && run.status !== 'unknown');
    if (!found) {
      this.item.text = '';
      this.item.hide();
      return;
    }
    const { profile, run } = found;
    const { status, health, imagesPerSec, step, totalSteps, secondsLeft, entry } = run;
    const isIll = health.level === 'warning' || health.level === 'error';
    const isOld = hasOldFigures(health);
    const words = [
      isIll ? shortHealth(health) : '',
      isOld ? '' : imagesPerSec === undefined ? status : `${whole(imagesPerSec)} img/s`,
      step === undefined || totalSteps === undefined ? '' : percent(step / totalSteps),
      isOld || secondsLeft === undefined ? '' : duration(secondsLeft),
    ].filter((word) => word !== '');
    const argument: RunArgument = { profile, id: entry.id, dir: entry.dir };
    this.item.text = `$(${isIll ? 'warning' : 'rocket'}) ${words.join(' · ')}`;
    this.item.backgroundColor = isIll ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.tooltip = `${runName(entry)} on ${profile}: ${status}, ${health.text}. Open its dashboard`;
    this.item.accessibilityInformation = { label: `Trainyard run: ${words.join(', ')}`, role: 'button' };
    this.item.command = {
      command: 'trainyard.openDashboard',
      title: 'Open Dashboard',
      arguments: [argument],
    };
    this.item.show();
  }
}

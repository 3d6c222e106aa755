// One item for the newest run that is under way: `412 img/s · 34% · 3 min`.
import * as vscode from 'vscode';
import type { RunArgument } from '../contributions.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { LastSeen, LastSeenRun } from '../core/follow/lastSeen.js';
import type { RunOverview } from '../core/follow/overview.js';
import { hasOldFigures } from '../core/model/runHealth.js';
import { runName } from '../core/model/runName.js';
import type { LastRuns } from './lastRuns.js';
import type { Services } from './services.js';
import { shortHealth } from './tree/describe.js';
import { describeLastRun } from './tree/describeLast.js';
import { duration, percent, seenAgo, whole } from './words.js';

export class StatusBar implements vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    vscode.window.createStatusBarItem('trainyard.run', vscode.StatusBarAlignment.Left, 10),
  );

  constructor({ lastRuns }: Services) {
    this.item.name = 'Trainyard Run';
    this.store.add(
      lastRuns.onChange(() => {
        this.show(lastRuns);
      }),
    );
    this.show(lastRuns);
  }

  get text(): string | undefined {
    return this.item.text === '' ? undefined : this.item.text;
  }

  dispose(): void {
    this.store.dispose();
  }

  private show({ active }: LastRuns): void {
    const [found] = active;
    if (!found) {
      this.item.text = '';
      this.item.hide();
      return;
    }
    const { icon, words, isIll, tooltip, argument } =
      'last' in found ? wordsOfLast(found) : wordsOfRun(found.profile, found.run);
    this.item.text = `$(${icon}) ${words.filter((word) => word !== '').join(' · ')}`;
    this.item.backgroundColor = isIll ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `Trainyard run: ${words.join(', ')}`, role: 'button' };
    this.item.command = {
      command: 'trainyard.openDashboard',
      title: 'Open Dashboard',
      arguments: [argument],
    };
    this.item.show();
  }
}

interface Words {
  icon: string;
  words: string[];
  isIll: boolean;
  tooltip: string;
  argument: RunArgument;
}

function wordsOfRun(profile: string, run: RunOverview): Words {
  const { status, health, imagesPerSec, rateWriters, step, totalSteps, secondsLeft, entry } = run;
  const sum = rateWriters > 1 ? `, images/s the sum of ${rateWriters} writers` : '';
  const isIll = health.level === 'warning' || health.level === 'error';
  const isOld = hasOldFigures(health);
  const words = [
    isIll ? shortHealth(health) : '',
    isOld ? '' : imagesPerSec === undefined ? status : `${whole(imagesPerSec)} img/s`,
    step === undefined || totalSteps === undefined ? '' : percent(step / totalSteps),
    isOld || secondsLeft === undefined ? '' : duration(secondsLeft),
  ].filter((word) => word !== '');
  return {
    icon: isIll ? 'warning' : 'rocket',
    words,
    isIll,
    tooltip: `${runName(entry)} on ${profile}: ${status}, ${health.text}${sum}. Open its dashboard`,
    argument: { profile, id: entry.id, dir: entry.dir },
  };
}

function wordsOfLast({ profile, run, last }: { profile: string; run: LastSeenRun; last: LastSeen }): Words {
  const { id, dir, name } = run;
  return {
    icon: 'history',
    words: [`${name} was ${run.status}`, seenAgo(last)],
    isIll: false,
    tooltip: `${describeLastRun(run, last).tooltip}\nConnect to ${profile}, and open its dashboard`,
    argument: { profile, id, dir },
  };
}

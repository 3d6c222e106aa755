// One item for the run that is under way: `412 img/s · 34% · 3 min`, or how many are: `2 running`.
// Where none is, the item shows the run that ended last, until somebody looks at it:
// `resnet20-1f2e finished`. A failure goes first, until a later run is started.
import * as vscode from 'vscode';
import type { RunArgument, UnderWay } from '../contributions.js';
import { DisposableStore } from '../core/base/lifecycle.js';
import type { LastSeen, LastSeenRun } from '../core/follow/lastSeen.js';
import type { RunOverview } from '../core/follow/overview.js';
import { isMeasured } from '../core/model/measured.js';
import { hasOldFigures } from '../core/model/runHealth.js';
import { runName } from '../core/model/runName.js';
import { isOver } from '../core/model/runStatus.js';
import type { Ui } from './commands/ui.js';
import type { LastRuns } from './lastRuns.js';
import { isInFront } from './panels/inFront.js';
import { describeRun, shortHealth } from './tree/describe.js';
import { describeLastRun } from './tree/describeLast.js';
import { duration, percent, seenAgo, whole } from './figureText.js';

interface ListedRun {
  profile: string;
  run: RunOverview;
}

export class StatusBar implements vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly item = this.store.add(
    vscode.window.createStatusBarItem('trainyard.run', vscode.StatusBarAlignment.Left, 10),
  );
  private readonly lastRuns: LastRuns;
  /** The folder of the run whose end nobody has looked at. */
  private ended: string | undefined;

  constructor({ services, dashboards }: Pick<Ui, 'services' | 'dashboards'>) {
    this.lastRuns = services.lastRuns;
    this.item.name = 'Trainyard Run';
    const show = (): void => {
      this.show();
    };
    this.store.add(this.lastRuns.onChange(show));
    this.store.add(
      services.onBackend(({ changes }) => {
        this.store.add(
          changes.onChange(({ run: { status, entry } }) => {
            if (!isOver(status) || isMeasured(entry)) return;
            this.ended = isInFront(dashboards, entry.dir) ? undefined : entry.dir;
            show();
          }),
        );
      }),
    );
    this.store.add(
      dashboards.onFront(({ dir }) => {
        if (dir !== this.ended) return;
        this.ended = undefined;
        show();
      }),
    );
    show();
  }

  get text(): string | undefined {
    return this.item.text === '' ? undefined : this.item.text;
  }

  dispose(): void {
    this.store.dispose();
  }

  private show(): void {
    const words = this.words();
    if (!words) {
      this.item.text = '';
      this.item.hide();
      return;
    }
    this.item.text = `$(${words.icon}) ${words.words.filter((word) => word !== '').join(' · ')}`;
    this.item.backgroundColor =
      words.color && new vscode.ThemeColor(`statusBarItem.${words.color}Background`);
    this.item.tooltip = words.tooltip;
    this.item.accessibilityInformation = {
      label: `Trainyard run: ${words.words.join(', ')}`,
      role: 'button',
    };
    this.item.command = {
      command: 'trainyard.openDashboard',
      title: 'Open Dashboard',
      arguments: [words.argument],
    };
    this.item.show();
  }

  private words(): Words | undefined {
    const { active, shown } = this.lastRuns;
    const listed = shown.flatMap(({ profile, runs }) => runs.map((run) => ({ profile, run })));
    const ended = listed.find(({ run }) => run.entry.dir === this.ended && isOver(run.status));
    const underWay = active.flatMap((each) => ('last' in each ? [] : [each]));
    if (ended && isFirst(ended.run, underWay)) return wordsOfEnd(ended);
    const [first, ...others] = underWay;
    if (first) return others.length === 0 ? wordsOfRun(first) : wordsOfAll(underWay);
    for (const each of active) if ('last' in each) return wordsOfLast(each);
    return undefined;
  }
}

/** Whether the end of a run is shown before the runs that are under way. */
function isFirst({ health, entry }: RunOverview, underWay: readonly ListedRun[]): boolean {
  const end = entry.state?.ended ?? entry.state?.updated ?? 0;
  const isKnown = underWay.some(({ run }) => (run.entry.state?.started ?? 0) > end);
  return underWay.length === 0 || (health.level === 'error' && !isKnown);
}

interface Words {
  icon: string;
  words: string[];
  color: 'warning' | 'error' | undefined;
  tooltip: string;
  argument: RunArgument | UnderWay;
}

const isIll = ({ health }: RunOverview): boolean => health.level === 'warning' || health.level === 'error';

/** `412 img/s`, `34%`, `3 min`; of a run that is not well, that first. */
function figuresOf(run: RunOverview): string[] {
  const { status, health, imagesPerSec, step, totalSteps, secondsLeft } = run;
  const isOld = hasOldFigures(health);
  return [
    isIll(run) ? shortHealth(health) : '',
    isOld ? '' : imagesPerSec === undefined ? status : `${whole(imagesPerSec)} img/s`,
    step === undefined || totalSteps === undefined ? '' : percent(step / totalSteps),
    secondsLeft === undefined ? '' : duration(secondsLeft),
  ].filter((word) => word !== '');
}

/** Of several runs: how many, what is wrong with the first that is not well, and a line of each. */
function wordsOfAll(runs: readonly ListedRun[]): Words {
  const ill = runs.find(({ run }) => isIll(run))?.run;
  const queued = runs.filter(({ run }) => run.status === 'queued').length;
  const counts = [
    queued === runs.length ? '' : `${runs.length - queued} running`,
    queued === 0 ? '' : `${queued} queued`,
  ];
  const lines = runs.map(
    ({ profile, run }) => `${runName(run.entry)} on ${profile}: ${figuresOf(run).join(' · ')}`,
  );
  return {
    icon: ill ? 'warning' : 'rocket',
    words: [ill ? shortHealth(ill.health) : '', ...counts].filter((word) => word !== ''),
    color: ill && 'warning',
    tooltip: [...lines, 'Choose one to open its dashboard'].join('\n'),
    argument: { underWay: true },
  };
}

function wordsOfRun({ profile, run }: ListedRun): Words {
  const { status, health, rateWriters, entry } = run;
  const sum = rateWriters > 1 ? `, images/s the sum of ${rateWriters} writers` : '';
  return {
    icon: isIll(run) ? 'warning' : 'rocket',
    words: figuresOf(run),
    color: isIll(run) ? 'warning' : undefined,
    tooltip: `${runName(entry)} on ${profile}: ${status}, ${health.text}${sum}. Open its dashboard`,
    argument: { profile, id: entry.id, dir: entry.dir },
  };
}

function wordsOfEnd({ profile, run }: ListedRun): Words {
  const { status, health, entry } = run;
  const colors = { good: undefined, note: undefined, warning: 'warning', error: 'error' } as const;
  return {
    icon: describeRun(run).icon,
    words: [`${runName(entry)} ${status}`, health.kind === 'bad-images' ? shortHealth(health) : ''],
    color: colors[health.level],
    tooltip: `${runName(entry)} on ${profile}: ${health.text}. Open its dashboard`,
    argument: { profile, id: entry.id, dir: entry.dir },
  };
}

function wordsOfLast({ profile, run, last }: { profile: string; run: LastSeenRun; last: LastSeen }): Words {
  const { id, dir, name } = run;
  return {
    icon: 'history',
    words: [`${name} was ${run.status}`, seenAgo(last)],
    color: undefined,
    tooltip: `${describeLastRun(run, last).tooltip}\nConnect to ${profile}, and open its dashboard`,
    argument: { profile, id, dir },
  };
}

// One run's dashboard in a tab: sends its page what changed, and carries out what the page asks.
import * as vscode from 'vscode';
import { panelTypes, type CommandId, type RunArgument } from '../../contributions.js';
import { basename, pathFromNode } from '../../core/base/nodePath.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import type { RunFeed } from '../../core/follow/runFeed.js';
import type { FromPage, PageAction, ToPage } from '../../webview/protocol.js';
import type { Services } from '../services.js';
import { runName, shortName } from '../../core/model/runName.js';
import { dashboardPage } from './dashboardPage.js';
import { DashboardSender } from './dashboardUpdate.js';
import { makeNonce } from './html.js';
import type { PanelKind, RunPanel } from './runPanels.js';
import { saveChart } from './saveFile.js';
import { tabIcon } from './tabIcon.js';
import { Throttle } from '../throttle.js';
import { errorWords } from '../remedies.js';

/** Milliseconds between two updates: a dozen a second look live. */
const updateInterval = 80;
/** Where the run changes faster than anybody reads, fewer and larger updates cost less. */
const busyInterval = 250;
const busyFrom = 10;

const commands: Record<PageAction, CommandId> = {
  stopAfterCheckpoint: 'trainyard.stopAfterCheckpoint',
  stopNow: 'trainyard.stopNow',
  openTensorBoard: 'trainyard.openTensorBoard',
  openLogs: 'trainyard.openLogs',
  revealFolder: 'trainyard.revealRunFolder',
  resumeRun: 'trainyard.resumeRun',
  describeRun: 'trainyard.describeRun',
  cloneRun: 'trainyard.cloneRun',
  openTerminal: 'trainyard.openTerminal',
  evaluateCheckpoint: 'trainyard.evaluateCheckpoint',
  runFromCheckpoint: 'trainyard.runFromCheckpoint',
  downloadCheckpoint: 'trainyard.downloadCheckpoint',
  openOrigin: 'trainyard.openDashboard',
  showCheckpoints: 'trainyard.selectRun',
};

export class DashboardPanel implements RunPanel {
  private readonly store = new DisposableStore();
  private readonly throttle = this.store.add(
    new Throttle(
      () => {
        this.send();
      },
      () => this.interval(),
    ),
  );
  /** Of the run, since the last update. */
  private changes = 0;
  private feed: RunFeed | undefined;
  private sender: DashboardSender | undefined;
  private problem: string | undefined;

  constructor(
    private readonly services: Services,
    readonly panel: vscode.WebviewPanel,
    readonly run: RunArgument,
    onGone: () => void,
  ) {
    const { webview } = panel;
    const folder = vscode.Uri.file(services.context.asAbsolutePath('dist/webview'));
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.title = shortName(run.id);
    panel.iconPath = tabIcon(services);
    this.store.add(
      webview.onDidReceiveMessage((message: FromPage) => {
        this.receive(message).catch((error: unknown) => {
          services.logger.log('error', `dashboard of ${run.id}: ${errorWords(error)}`);
          void vscode.window.showErrorMessage(errorWords(error));
        });
      }),
    );
    this.store.add(
      panel.onDidDispose(() => {
        this.store.dispose();
        onGone();
      }),
    );
    this.store.add(
      panel.onDidChangeViewState(() => {
        // A hidden page is gone; it says `ready` when it comes back.
        if (!panel.visible) this.sender = undefined;
      }),
    );
    const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
    const files = { style: at('dashboard.css'), script: at('dashboard.js') };
    webview.html = dashboardPage(run, { source: webview.cspSource, nonce: makeNonce(), ...files });
    void this.follow();
  }

  /** Steps sent so far, for tests. */
  get lastStep(): number | undefined {
    return this.feed?.model.metrics.lastStep?.step;
  }

  reveal(): void {
    this.panel.reveal();
    this.feed?.start(); // it may have been continued since
  }

  dispose(): void {
    this.panel.dispose();
  }

  private async follow(): Promise<void> {
    try {
      const { feeds } = await this.services.backend();
      const used = this.store.add(feeds.use(this.run.profile, this.run.dir));
      this.feed = used.feed;
      this.store.add(
        used.feed.onChange(() => {
          this.changes++;
          this.throttle.poke();
        }),
      );
      this.send();
    } catch (error) {
      this.problem = errorWords(error);
      this.post({ type: 'problem', message: this.problem });
    }
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.sender = new DashboardSender(this.run.profile);
        if (this.problem === undefined) this.send();
        else this.post({ type: 'problem', message: this.problem });
        break;
      case 'action':
        await vscode.commands.executeCommand(
          commands[message.action],
          message.action === 'openOrigin' ? this.origin() : this.run,
        );
        break;
      case 'save':
        await saveChart({ ...message, name: `${shortName(this.run.id)}-${message.name}` });
        break;
      case 'notSaved':
        void vscode.window.showErrorMessage(message.message);
        break;
      case 'failed':
        this.services.logger.log('error', `dashboard of ${this.run.id}: ${message.message}`);
        break;
    }
  }

  /** The run whose checkpoint this one began with. */
  private origin(): RunArgument | undefined {
    const from = this.feed?.model.details?.run?.from;
    if (!from) return undefined;
    return { profile: this.run.profile, id: basename(from.dir), dir: pathFromNode(from.dir) };
  }

  private interval(): number {
    const busy = this.changes > busyFrom;
    this.changes = 0;
    return busy ? busyInterval : updateInterval;
  }

  private send(): void {
    const { feed, sender } = this;
    if (!feed || !sender || !this.panel.visible) return;
    if (feed.problem !== undefined) this.post({ type: 'problem', message: errorWords(feed.problem) });
    else if (feed.model.details) {
      this.panel.title = runName(feed.model.details);
      this.post(sender.next(feed, Date.now() / 1000));
    }
  }

  private post(message: ToPage): void {
    this.panel.webview.postMessage(message).then(undefined, (error: unknown) => {
      this.services.logger.log('debug', `dashboard of ${this.run.id}: ${errorWords(error)}`);
    });
  }
}

export const dashboardPanels: PanelKind<DashboardPanel> = {
  type: panelTypes.dashboard,
  options: {},
  make: (services, panel, run, onGone) => new DashboardPanel(services, panel, run, onGone),
};

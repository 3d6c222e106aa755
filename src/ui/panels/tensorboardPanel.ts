// TensorBoard of a run in a tab. TensorBoard itself and the way to it outlive the tab.
import * as vscode from 'vscode';
import { panelTypes, type RunArgument } from '../../contributions.js';
import { isCancelled, UserError } from '../../core/base/errors.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import type { Progress } from '../../core/base/progress.js';
import type { Services } from '../services.js';
import { shortName } from '../../core/model/runName.js';
import { makeNonce } from './html.js';
import type { PanelKind, RunPanel } from './runPanels.js';
import { tabIcon } from './tabIcon.js';
import { tensorboardPage, tensorboardQuery, type TensorBoardState } from './tensorboardPage.js';
import { errorWords } from '../remedies.js';

/** Milliseconds between two looks whether it still runs, while the tab is visible. */
const lookInterval = 3000;

/**
 * Starts TensorBoard where it does not run, and gives the address under which this window's user
 * reaches it. `once`: good for one use, for a browser, whose command line others may see.
 */
export async function tensorboardAddress(
  services: Services,
  run: RunArgument,
  progress: Progress = {},
  once = false,
): Promise<vscode.Uri> {
  const backend = await services.backend();
  const bridge = await backend.boards.open(await backend.machine(run.profile), run.dir, progress);
  // Without the key: not every editor keeps the path of an address that it forwards.
  const uri = await vscode.env.asExternalUri(vscode.Uri.parse(bridge.root));
  bridge.allow(uri.authority);
  return vscode.Uri.parse(bridge.under(uri.toString(true), once));
}

function isDark(): boolean {
  const { kind } = vscode.window.activeColorTheme;
  return kind === vscode.ColorThemeKind.Dark || kind === vscode.ColorThemeKind.HighContrast;
}

export class TensorBoardPanel implements RunPanel {
  private readonly store = new DisposableStore();
  private state: TensorBoardState = { kind: 'starting', what: 'connecting' };
  private opening = false;
  /** Where it serves, without a query. */
  private address: vscode.Uri | undefined;

  constructor(
    private readonly services: Services,
    readonly panel: vscode.WebviewPanel,
    readonly run: RunArgument,
    onGone: () => void,
  ) {
    panel.webview.options = { enableScripts: true };
    panel.iconPath = tabIcon(services);
    panel.title = `TensorBoard: ${shortName(run.id)}`;
    this.store.add(
      panel.webview.onDidReceiveMessage(({ type }: { type: string }) => {
        if (type === 'restart') void this.open();
        if (type === 'browser') {
          void vscode.commands.executeCommand('trainyard.openTensorBoardInBrowser', run);
        }
      }),
    );
    // It takes a theme only while it loads.
    this.store.add(
      vscode.window.onDidChangeActiveColorTheme(() => {
        if (this.state.kind === 'serving') this.showServing();
      }),
    );
    const timer = setInterval(() => void this.look(), lookInterval);
    this.store.defer(() => {
      clearInterval(timer);
    });
    this.store.add(
      panel.onDidDispose(() => {
        this.store.dispose();
        onGone();
      }),
    );
    void this.open();
  }

  get kind(): TensorBoardState['kind'] {
    return this.state.kind;
  }

  /** Under which the tab shows it; undefined while it does not. */
  get url(): string | undefined {
    return this.state.kind === 'serving' ? this.state.url : undefined;
  }

  reveal(): void {
    this.panel.reveal();
  }

  private async open(): Promise<void> {
    if (this.opening) return;
    this.opening = true;
    this.show({ kind: 'starting', what: 'connecting' });
    try {
      const onProgress = (what: string): void => {
        this.show({ kind: 'starting', what });
      };
      this.address = await tensorboardAddress(this.services, this.run, { onProgress });
      this.showServing();
    } catch (error) {
      if (!isCancelled(error)) {
        this.show({ kind: 'gone', message: errorWords(error), lastLines: [] });
      }
    } finally {
      this.opening = false;
    }
  }

  /** Loads it in the editor's theme, unless it is there in this theme already. */
  private showServing(): void {
    if (!this.address) return;
    const url = `${this.address.toString(true)}?${tensorboardQuery(isDark())}`;
    if (url === this.url) return;
    this.show({ kind: 'serving', url, origin: `${this.address.scheme}://${this.address.authority}` });
  }

  private async look(): Promise<void> {
    if (this.state.kind !== 'serving' || !this.panel.visible) return;
    try {
      const backend = await this.services.backend();
      const machine = await backend.machineUnlessLeft(this.run.profile);
      const { running, lastLines } = await backend.boards.status(machine, this.run.dir);
      if (running) {
        // Its machine was disconnected and connected again since: the address led to the old one.
        if (!backend.boards.leadsTo(machine, this.run.dir)) await this.open();
        return;
      }
      this.show({
        kind: 'gone',
        message: 'It has ended: it does so after 30 minutes without a request.',
        lastLines,
      });
    } catch (error) {
      if (error instanceof UserError && error.code === 'usage') {
        // Its place is gone: the run no longer has the nodes that it ran on.
        this.show({ kind: 'gone', message: errorWords(error), lastLines: [] });
        return;
      }
      this.services.logger.log('debug', `TensorBoard of ${this.run.id}: ${errorWords(error)}`);
    }
  }

  private show(state: TensorBoardState): void {
    if (this.store.isDisposed) return;
    this.state = state;
    const { profile, id, dir } = this.run;
    this.panel.webview.html = tensorboardPage(state, { profile, id, dir }, makeNonce());
  }

  dispose(): void {
    this.panel.dispose();
  }
}

export const tensorboardPanels: PanelKind<TensorBoardPanel> = {
  type: panelTypes.tensorboard,
  options: { enableScripts: true, retainContextWhenHidden: true }, // it loads for seconds
  make: (services, panel, run, onGone) => new TensorBoardPanel(services, panel, run, onGone),
};

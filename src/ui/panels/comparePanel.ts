// Several runs beside each other, in a tab for each choice of runs.
import * as vscode from 'vscode';
import { panelTypes, type CommandId, type RunArgument } from '../../contributions.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import { pathFromNode } from '../../core/base/nodePath.js';
import { shortName } from '../../core/model/runName.js';
import type { FromComparePage } from '../../webview/protocol.js';
import type { ReadSoFar } from '../comparer.js';
import { errorWords } from '../remedies.js';
import type { Services } from '../services.js';
import { compareTitle } from './compareTitle.js';
import { escapeHtml, makeNonce, page } from './html.js';
import { saveChart, saveFile } from './saveFile.js';
import { tabIcon } from './tabIcon.js';

const keyOf = (runs: readonly RunArgument[]): string =>
  runs
    .map(({ profile, dir }) => `${profile} ${dir}`)
    .sort()
    .join('\n');

export class ComparePanels implements Disposable {
  private readonly panels = new Map<string, ComparePanel>();
  private readonly serializer: Disposable;

  constructor(private readonly services: Services) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes.compare, {
      deserializeWebviewPanel: (panel: vscode.WebviewPanel, state: unknown) => {
        const runs = runsOfState(state);
        if (runs.length === 0) panel.dispose();
        else this.add(panel, runs);
        return Promise.resolve();
      },
    });
  }

  show(runs: readonly RunArgument[]): void {
    const known = this.panels.get(keyOf(runs));
    if (known) {
      known.reveal();
      return;
    }
    const where = { viewColumn: vscode.ViewColumn.Active };
    this.add(vscode.window.createWebviewPanel(panelTypes.compare, 'Compare', where, {}), runs);
  }

  dispose(): void {
    this.serializer.dispose(); // the tabs are the editor's: it brings them back
  }

  private add(panel: vscode.WebviewPanel, runs: readonly RunArgument[]): void {
    const key = keyOf(runs);
    const added = new ComparePanel(this.services, panel, runs, () => {
      this.panels.delete(key);
    });
    this.panels.set(key, added);
  }
}

class ComparePanel {
  private soFar: ReadSoFar;
  private accuracy: number | undefined;
  /** Counts the readings: an older one that is still under way is given up. */
  private reading = 0;
  private gone = false;

  constructor(
    private readonly services: Services,
    private readonly panel: vscode.WebviewPanel,
    private readonly chosen: readonly RunArgument[],
    onGone: () => void,
  ) {
    this.soFar = { runs: [], pending: chosen.length, problems: [] };
    const { webview } = panel;
    const folder = vscode.Uri.file(services.context.asAbsolutePath('dist/webview'));
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.title = this.title();
    panel.iconPath = tabIcon(services);
    const messages = webview.onDidReceiveMessage((message: FromComparePage) => {
      this.receive(message).catch((error: unknown) => {
        services.logger.log('error', `comparison: ${errorWords(error)}`);
        void vscode.window.showErrorMessage(errorWords(error));
      });
    });
    panel.onDidDispose(() => {
      this.gone = true;
      messages.dispose();
      onGone();
    });
    webview.html = comparePage(webview, folder, chosen);
  }

  reveal(): void {
    this.panel.reveal();
  }

  /** Runs that are not read yet are named by their ids. */
  private title(): string {
    const named = this.chosen.map(({ profile, dir, id }) => {
      const read = this.soFar.runs.find((run) => run.profile === profile && run.dir === dir);
      return read?.name ?? shortName(id);
    });
    return compareTitle(named);
  }

  private async receive(message: FromComparePage): Promise<void> {
    switch (message.type) {
      case 'ready':
        if (this.soFar.pending > 0 || this.soFar.problems.length > 0) await this.read();
        else await this.send();
        break;
      case 'refresh':
        await this.read();
        break;
      case 'accuracy':
        this.accuracy = message.fraction;
        await this.send();
        break;
      case 'export': {
        const { comparer } = await this.services.backend();
        const runs = message.rows.flatMap((row) => this.soFar.runs[row] ?? []);
        const text = comparer.text(message.form, runs, this.accuracy);
        await saveFile('comparison', message.form, Buffer.from(text));
        break;
      }
      case 'save':
        await saveChart(message);
        break;
      case 'open': {
        const run = this.soFar.runs[message.row];
        const command: CommandId = 'trainyard.openDashboard';
        const argument = this.chosen.find(({ dir, profile }) => dir === run?.dir && profile === run.profile);
        if (argument) await vscode.commands.executeCommand(command, argument);
        break;
      }
      case 'failed':
        this.services.logger.log('error', `comparison: ${message.message}`);
        break;
    }
  }

  /** Reads all runs; what is there already is shown meanwhile. */
  private async read(): Promise<void> {
    const reading = ++this.reading;
    const { comparer } = await this.services.backend();
    for await (const soFar of comparer.readAll(this.chosen)) {
      if (reading !== this.reading || this.gone) return;
      // A second reading shows only whole ones: rows would jump about.
      if (soFar.pending > 0 && this.soFar.runs.length > soFar.runs.length) continue;
      this.soFar = soFar;
      this.panel.title = this.title();
      await this.send();
    }
  }

  private async send(): Promise<void> {
    const { comparer } = await this.services.backend();
    if (this.gone) return;
    await this.panel.webview.postMessage(comparer.update(this.soFar, this.accuracy, Date.now() / 1000));
  }
}

function comparePage(webview: vscode.Webview, folder: vscode.Uri, runs: readonly RunArgument[]): string {
  const nonce = makeNonce();
  const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  return page(
    { source: webview.cspSource, nonce },
    'Comparison of runs',
    `<link rel="stylesheet" href="${at('compare.css')}">`,
    `<div id="app" data-runs="${escapeHtml(JSON.stringify(runs))}"></div>\n<script nonce="${nonce}" src="${at('compare.js')}"></script>`,
  );
}

/** The runs that a page kept in its state; none where they cannot be understood. */
function runsOfState(state: unknown): RunArgument[] {
  if (typeof state !== 'object' || state === null || !('runs' in state)) return [];
  if (!Array.isArray(state.runs)) return [];
  return state.runs.flatMap((run: unknown) => {
    if (typeof run !== 'object' || run === null) return [];
    if (!('profile' in run) || !('id' in run) || !('dir' in run)) return [];
    const { profile, id, dir } = run;
    if (typeof profile !== 'string' || typeof id !== 'string' || typeof dir !== 'string') return [];
    return [{ profile, id, dir: pathFromNode(dir) }];
  });
}

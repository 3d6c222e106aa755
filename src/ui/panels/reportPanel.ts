// Reports of measurements, in a tab for each profile and kind: the pages of their folders.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { panelTypes } from '../../contributions.js';
import { systemCode } from '../../core/base/errors.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import { errorWords } from '../remedies.js';
import type { Services } from '../services.js';
import { makeNonce } from './html.js';
import { linkedCommand, lostReportPage, reportOfState, reportPage, type ReportPlace } from './reportPage.js';
import { tabIcon } from './tabIcon.js';

const options = { enableScripts: true, enableCommandUris: [linkedCommand], localResourceRoots: [] };

export class ReportPanels implements Disposable {
  private readonly serializer: Disposable;
  /** Open tabs by their titles, each with the folder of the report that it shows. */
  private readonly open = new Map<string, { panel: vscode.WebviewPanel; folder: string }>();

  constructor(private readonly services: Services) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes.report, {
      deserializeWebviewPanel: async (panel: vscode.WebviewPanel, state: unknown) => {
        const place = reportOfState(state);
        if (!place) {
          panel.dispose();
          return;
        }
        this.keep(panel, place);
        await this.fill(panel, place);
      },
    });
  }

  /** The folder that all reports are in. */
  get folder(): string {
    return join(this.services.context.globalStorageUri.fsPath, 'reports');
  }

  /**
   * In the tab of this title, which is made where there is none. `folder`: in the folder of all
   * reports. `file`: the page in it.
   */
  async show(title: string, folder: string, file: string): Promise<void> {
    const place = { title, folder: basename(folder), file };
    const shown = this.open.get(title);
    shown?.panel.reveal();
    if (shown) shown.folder = place.folder;
    await this.fill(shown?.panel ?? this.make(place), place);
  }

  /** The page anew, where the tab of this title is open and shows this report. */
  async refresh(title: string, folder: string, file: string): Promise<void> {
    const place = { title, folder: basename(folder), file };
    const shown = this.open.get(title);
    if (shown?.folder === place.folder) await this.fill(shown.panel, place);
  }

  dispose(): void {
    this.serializer.dispose(); // the tabs are the editor's: it brings them back
  }

  private make(place: ReportPlace): vscode.WebviewPanel {
    const where = { viewColumn: vscode.ViewColumn.Active };
    const panel = vscode.window.createWebviewPanel(panelTypes.report, place.title, where, options);
    this.keep(panel, place);
    return panel;
  }

  /** A later report of this title goes into the tab. */
  private keep(panel: vscode.WebviewPanel, { title, folder }: ReportPlace): void {
    this.open.set(title, { panel, folder });
    panel.onDidDispose(() => {
      if (this.open.get(title)?.panel === panel) this.open.delete(title);
    });
  }

  private async fill(panel: vscode.WebviewPanel, place: ReportPlace): Promise<void> {
    const { webview } = panel;
    panel.iconPath = tabIcon(this.services);
    webview.options = options;
    const path = join(this.folder, place.folder, place.file);
    const nonce = makeNonce();
    try {
      webview.html = reportPage(await readFile(path, 'utf8'), place, nonce);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      webview.html = lostReportPage(place, path, errorWords(error), nonce);
    }
  }
}

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
  /** Open tabs, by their titles. */
  private readonly open = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly services: Services) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(panelTypes.report, {
      deserializeWebviewPanel: async (panel: vscode.WebviewPanel, state: unknown) => {
        const place = reportOfState(state);
        if (!place) {
          panel.dispose();
          return;
        }
        this.keep(panel, place.title);
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
    const shown = this.open.get(title);
    shown?.reveal();
    const panel = shown ?? this.make(title);
    await this.fill(panel, { title, folder: basename(folder), file });
  }

  /** The page anew, where a tab of this title is open. */
  async refresh(title: string, folder: string, file: string): Promise<void> {
    const panel = this.open.get(title);
    if (panel) await this.fill(panel, { title, folder: basename(folder), file });
  }

  dispose(): void {
    this.serializer.dispose(); // the tabs are the editor's: it brings them back
  }

  private make(title: string): vscode.WebviewPanel {
    const where = { viewColumn: vscode.ViewColumn.Active };
    const panel = vscode.window.createWebviewPanel(panelTypes.report, title, where, options);
    this.keep(panel, title);
    return panel;
  }

  /** A later report of this title goes into the tab. */
  private keep(panel: vscode.WebviewPanel, title: string): void {
    this.open.set(title, panel);
    panel.onDidDispose(() => {
      if (this.open.get(title) === panel) this.open.delete(title);
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

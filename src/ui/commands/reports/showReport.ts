// The page of a report in a tab, and where its files are.
import * as vscode from 'vscode';
import { join } from 'node:path';
import { tabIcon } from '../../panels/tabIcon.js';
import { showFolder } from '../showFolder.js';
import type { Ui } from '../ui.js';

/** A new folder of this machine for the report of a profile. */
export function reportFolder({ services }: Ui, kind: string, profile: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return join(services.context.globalStorageUri.fsPath, 'reports', `${kind}-${profile}-${time}`);
}

/** `html`: a whole page without scripts. The tab does not come back after a reload; the files stay. */
export function showReport({ services }: Ui, title: string, html: string): void {
  const where = { viewColumn: vscode.ViewColumn.Active };
  const panel = vscode.window.createWebviewPanel('trainyard.report', title, where, { enableScripts: false });
  panel.iconPath = tabIcon(services);
  panel.webview.html = html;
}

/** Resolves with whether the further button was pressed. */
export async function offerFolder(text: string, folder: string, button?: string): Promise<boolean> {
  const open = 'Open Folder';
  const buttons = button === undefined ? [open] : [button, open];
  const answer = await vscode.window.showInformationMessage(text, ...buttons);
  if (answer === open) await showFolder(folder);
  return button !== undefined && answer === button;
}

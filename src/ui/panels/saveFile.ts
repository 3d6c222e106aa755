// What a page gives to be saved, written to a file that the user names.
import * as vscode from 'vscode';
import type { SavedChart, TableForm } from '../../webview/protocol.js';

const endings: Record<TableForm | SavedChart['form'], string> = {
  csv: 'csv',
  json: 'jsonl',
  markdown: 'md',
  png: 'png',
  svg: 'svg',
};

/** Asks for the file, beginning with `name` in the first folder of the workspace. */
export async function saveFile(name: string, form: keyof typeof endings, bytes: Uint8Array): Promise<void> {
  const ending = endings[form];
  const file = `${name.replace(/[^\w.-]+/g, '-')}.${ending}`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const target = await vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, file) } : {}),
    filters: { [ending.toUpperCase()]: [ending] },
  });
  if (target) await vscode.workspace.fs.writeFile(target, bytes);
}

export const saveChart = ({ name, form, data }: SavedChart): Promise<void> =>
  saveFile(name, form, Buffer.from(data, form === 'png' ? 'base64' : 'utf8'));

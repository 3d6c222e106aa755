// Which private key: one of the user's own folder, one that is typed, or one that is looked for.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { privateKeys } from '../../../core/ssh/auth/privateKeys.js';

interface Item extends vscode.QuickPickItem {
  /** Undefined: a file is chosen by the editor's own dialog. */
  path: string | undefined;
}

const otherFile: Item = { label: '$(folder-opened) Another File…', alwaysShow: true, path: undefined };

/** The path as profiles have it: below the home folder with `~`. Undefined when it was given up. */
export async function askKeyFile(title: string, placeholder: string): Promise<string | undefined> {
  const keys = await privateKeys();
  const known = keys.map(({ path, about }): Item => ({
    label: `$(key) ${short(path)}`,
    description: about,
    path,
  }));
  const item = await pickOrType(title, placeholder, [...known, otherFile]);
  if (!item) return undefined;
  if (item.path !== undefined) return short(item.path);
  const [file] = (await vscode.window.showOpenDialog({ title, openLabel: 'Choose' })) ?? [];
  return file && short(file.fsPath);
}

function short(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** A path that is typed comes first in the list. */
function pickOrType(title: string, placeholder: string, items: readonly Item[]): Promise<Item | undefined> {
  const box = vscode.window.createQuickPick<Item>();
  box.title = title;
  box.placeholder = placeholder;
  box.ignoreFocusOut = true;
  const render = (): void => {
    const typed = box.value.trim();
    const isPath = /^(~?[\\/]|[A-Za-z]:[\\/])./.test(typed);
    const own = { label: `$(key) ${typed}`, description: 'this file', alwaysShow: true, path: typed };
    box.items = [...(isPath ? [own] : []), ...items];
  };
  return new Promise((resolve) => {
    box.onDidChangeValue(render);
    box.onDidAccept(() => {
      const item = box.activeItems[0] ?? box.items[0];
      if (!item) return;
      resolve(item);
      box.hide();
    });
    box.onDidHide(() => {
      box.dispose();
      resolve(undefined);
    });
    render();
    box.show();
  });
}

// A list to choose from, in which something else may be typed.
import * as vscode from 'vscode';

/** `typed`: the item that text stands for, which then comes first. Undefined: it was given up. */
export function pickOrType<T extends vscode.QuickPickItem>(
  { title, placeholder }: { title: string; placeholder: string },
  items: readonly T[],
  typed: (text: string) => T | undefined,
): Promise<T | undefined> {
  const box = vscode.window.createQuickPick<T>();
  box.title = title;
  box.placeholder = placeholder;
  box.ignoreFocusOut = true;
  const render = (): void => {
    const own = typed(box.value.trim());
    box.items = [...(own ? [{ ...own, alwaysShow: true }] : []), ...items];
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

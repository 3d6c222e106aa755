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
  /** Whether the list has said which of its items is active since they were last set. */
  let settled = false;
  const render = (): void => {
    const own = typed(box.value.trim());
    settled = false;
    box.items = [...(own ? [{ ...own, alwaysShow: true }] : []), ...items];
  };
  /** `activeItems` lag behind the typed text: Enter right after it means the text, and all of it. */
  const accepted = (): T | undefined => {
    const [active] = box.activeItems;
    if (active && settled && items.includes(active)) return active;
    return typed(box.value.trim()) ?? active ?? box.items[0];
  };
  return new Promise((resolve) => {
    box.onDidChangeValue(render);
    box.onDidChangeActive(() => {
      settled = true;
    });
    box.onDidAccept(() => {
      const item = accepted();
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

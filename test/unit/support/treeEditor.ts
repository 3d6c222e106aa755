// A stand-in for the part of the editor that a tree needs: its items, its selection, its commands.

export const editor = {
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  selection: [] as unknown[],
  /** Of the view that was made last. */
  view: {} as { description?: string; message?: string; visible?: boolean },
  /** The context keys. */
  keys: {} as { areRunsFiltered?: boolean },
  /** What commands were called, each with its arguments. */
  opened: [] as unknown[],
};

interface Nothing {
  dispose: () => void;
}
const nothing = (): Nothing => ({ dispose: () => undefined });

class Named {
  constructor(
    readonly label: string,
    readonly collapsibleState?: number,
  ) {}
}

/** In place of the module `vscode`. */
export const treeEditor = {
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  TreeItem: Named,
  ThemeIcon: Named,
  ThemeColor: Named,
  Uri: { from: (parts: object): object => parts },
  window: {
    createTreeView: (): object => {
      const view = {
        ...nothing(),
        visible: false,
        get selection() {
          return editor.selection;
        },
        onDidChangeVisibility: nothing,
        onDidChangeSelection: nothing,
      };
      editor.view = view;
      return view;
    },
    registerFileDecorationProvider: nothing,
  },
  commands: {
    registerCommand: (id: string, run: (...args: unknown[]) => unknown): Nothing => {
      editor.commands.set(id, run);
      return nothing();
    },
    executeCommand: (id: string, ...args: unknown[]): Promise<void> => {
      editor.opened.push(id, ...args);
      return Promise.resolve();
    },
  },
};

// The composition root with a stand-in for the editor's API: everything registers, and nothing is
// left at the end.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  clickedRunCommand,
  commandIds,
  languageToolNames,
  panelTypes,
  taskType,
  terminalProfileId,
  viewIds,
} from '../../../src/contributions.js';

const editor = vi.hoisted(() => ({
  commands: new Map<string, (...args: unknown[]) => Promise<void>>(),
  views: new Set<string>(),
  panels: new Set<string>(),
  terminals: new Set<string>(),
  schemes: new Set<string>(),
  tasks: new Set<string>(),
  tools: new Set<string>(),
  disposed: 0,
  shown: [] as string[],
}));

vi.mock('vscode', () => {
  const disposable = (release: () => void = () => undefined): { dispose: () => void } => ({
    dispose: () => {
      editor.disposed++;
      release();
    },
  });
  return {
    EventEmitter: class {
      event = (): object => disposable();
      fire(): void {
        // nobody listens
      }
      dispose(): void {
        editor.disposed++;
      }
    },
    Disposable: {
      from: (...all: { dispose: () => void }[]) => ({
        dispose: () => {
          for (const each of all) each.dispose();
        },
      }),
    },
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
    window: {
      createOutputChannel: () => ({
        ...disposable(),
        debug: vi.fn(),
        info: vi.fn(),
        warn: vi.fn(),
        error: vi.fn(),
      }),
      createTreeView: (id: string) => {
        editor.views.add(id);
        const close = disposable(() => editor.views.delete(id));
        return {
          ...close,
          visible: false,
          selection: [],
          onDidChangeVisibility: () => disposable(),
          onDidChangeSelection: () => disposable(),
        };
      },
      registerFileDecorationProvider: () => disposable(),
      createStatusBarItem: () => ({ ...disposable(), hide: vi.fn(), show: vi.fn() }),
      registerWebviewPanelSerializer: (type: string) => {
        editor.panels.add(type);
        return disposable(() => editor.panels.delete(type));
      },
      registerTerminalProfileProvider: (id: string) => {
        editor.terminals.add(id);
        return disposable(() => editor.terminals.delete(id));
      },
      showErrorMessage: (text: string) => {
        editor.shown.push(text);
        return Promise.resolve(undefined);
      },
      showQuickPick: () => Promise.resolve(undefined),
    },
    StatusBarAlignment: { Left: 1 },
    RelativePattern: vi.fn(),
    Uri: { file: (path: string) => ({ path }) },
    workspace: {
      getConfiguration: () => ({ get: () => undefined }),
      registerTextDocumentContentProvider: (scheme: string) => {
        editor.schemes.add(scheme);
        return disposable(() => editor.schemes.delete(scheme));
      },
      onDidCloseTextDocument: () => disposable(),
      onDidGrantWorkspaceTrust: () => disposable(),
      createFileSystemWatcher: () => ({
        ...disposable(),
        onDidChange: () => disposable(),
        onDidCreate: () => disposable(),
        onDidDelete: () => disposable(),
      }),
    },
    lm: {
      registerTool: (name: string) => {
        editor.tools.add(name);
        return disposable(() => editor.tools.delete(name));
      },
    },
    tasks: {
      registerTaskProvider: (type: string) => {
        editor.tasks.add(type);
        return disposable(() => editor.tasks.delete(type));
      },
    },
    commands: {
      executeCommand: () => Promise.resolve(undefined),
      registerCommand: (id: string, handler: (...args: unknown[]) => Promise<void>) => {
        editor.commands.set(id, handler);
        return disposable(() => editor.commands.delete(id));
      },
    },
  };
});

interface Context {
  subscriptions: { dispose: () => void }[];
  asAbsolutePath: (path: string) => string;
  globalState: { get: () => undefined; keys: () => string[] };
  workspaceState: { get: () => undefined };
}

async function activate(): Promise<Context> {
  const { activate: start } = await import('../../../src/extension.js');
  const context: Context = {
    subscriptions: [],
    asAbsolutePath: (path) => `/nonexistent/${path}`,
    globalState: { get: () => undefined, keys: () => [] },
    workspaceState: { get: () => undefined },
  };
  start(context as unknown as Parameters<typeof start>[0]);
  return context;
}

beforeEach(() => {
  vi.stubEnv('TRAINYARD_NATIVE', '');
  editor.commands.clear();
  editor.views.clear();
  editor.shown.length = 0;
});

describe('activate', () => {
  it('registers every command and view, and lets go of them', async () => {
    const context = await activate();
    expect([...editor.commands.keys()].sort()).toEqual([...commandIds, clickedRunCommand].sort());
    expect([...editor.views].sort()).toEqual(Object.values(viewIds).sort());
    expect([...editor.panels].sort()).toEqual(Object.values(panelTypes).sort());
    expect([...editor.tasks]).toEqual([taskType]);
    expect([...editor.tools]).toEqual(languageToolNames);
    expect([...editor.terminals]).toEqual([terminalProfileId]);
    for (const item of context.subscriptions) item.dispose();
    expect([...editor.tasks]).toEqual([]);
    expect([...editor.tools]).toEqual([]);
    expect([...editor.terminals]).toEqual([]);
    expect([...editor.panels]).toEqual([]);
    expect([...editor.schemes]).toEqual([]);
    expect([...editor.commands.keys()]).toEqual([]);
    expect([...editor.views]).toEqual([]);
  });

  it('shows what went wrong in a command, with what to do', async () => {
    vi.stubEnv('TRAINYARD_HOME', '/nonexistent/home');
    const context = await activate();
    await editor.commands.get('trainyard.connect')?.({ profile: 'local' });
    expect(editor.shown).toEqual([
      '/nonexistent/dist/bin/agent is missing. Install the Trainyard extension again.',
    ]);
    await editor.commands.get('trainyard.connect')?.({ profile: 'lab' });
    expect(editor.shown[1]).toBe('there is no profile named lab. Choose one of: local.');
    await editor.commands.get('trainyard.addProfile')?.(); // given up at the first question: nothing to show
    expect(editor.shown).toHaveLength(2);
    for (const item of context.subscriptions) item.dispose();
  });
});

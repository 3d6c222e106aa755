// The ages of checkpoints, as they stand one below the other in the view: an older one never reads
// younger than a newer one, whatever is drawn when. And the rows are drawn seldom.
import type * as vscode from 'vscode';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Backend } from '../../../../src/ui/backend.js';
import type { ContextKeys } from '../../../../src/ui/contextKeys.js';
import type { Services } from '../../../../src/ui/services.js';
import { CheckpointTree, type CheckpointTreeNode } from '../../../../src/ui/tree/checkpointTree.js';
import { Reading } from '../../../../src/ui/tree/reading.js';
import { pauses } from '../../../../src/ui/tree/treeRows.js';

type Provider = Required<vscode.TreeDataProvider<CheckpointTreeNode>>;
const editor = vi.hoisted((): { provider: unknown } => ({ provider: undefined }));

vi.mock('vscode', () => {
  const nothing = (): { dispose: () => void } => ({ dispose: () => undefined });
  class Named {
    constructor(readonly label: string) {}
  }
  return {
    TreeItemCollapsibleState: { None: 0 },
    TreeItem: Named,
    ThemeIcon: Named,
    ThemeColor: Named,
    window: {
      createTreeView: (_id: string, { treeDataProvider }: { treeDataProvider: unknown }) => {
        editor.provider = treeDataProvider;
        return { ...nothing(), visible: true, onDidChangeVisibility: nothing };
      },
    },
  };
});

const dir = nodePath('/runs/r');
/** Milliseconds for which the editor waits before it draws. */
const delay = 200;

/** The view over checkpoints of these ages in seconds, the oldest first. */
async function shown(ages: readonly number[]) {
  const now = Date.now() / 1000;
  const checkpoints = ages.map((age, at) => ({
    ...{ step: at + 1, path: `checkpoints/${at}`, bytes: 1e6, time: now - age, valid: true },
  }));
  const overview = {
    ...{ entry: { id: 'r', dir }, status: 'running', best: undefined as { step: number } | undefined },
    ...{ step: ages.length, checkpoint: checkpoints.at(-1), secondsPerStep: 1 },
    ...{ top1At: () => 0.5, otherAt: () => undefined },
  };
  const answers: Record<string, object> = { 'checkpoint.list': { checkpoints }, 'disk.free': { free: 1e9 } };
  const client = { request: (name: string) => Promise.resolve(answers[name]) };
  const backend = {
    monitor: {
      all: [{ profile: 'local', run: overview }],
      onChange: () => ({ dispose: () => undefined }),
    },
    machineUnlessLeft: () => Promise.resolve({ node: { client: () => Promise.resolve(client) } }),
  } as unknown as Backend;
  const services = {
    backend: () => Promise.resolve(backend),
    onBackend: (use: (given: Backend) => void) => {
      use(backend);
      return { dispose: () => undefined };
    },
  } as unknown as Services;
  const tree = new CheckpointTree(
    services,
    { update: () => undefined } as unknown as ContextKeys,
    new Reading(),
  );
  const provider = editor.provider as Provider;
  /** What stands in the window, from the top. */
  const rows = new Map<CheckpointTreeNode, vscode.TreeItem>();
  let drawings = 0;
  const draw = (node: CheckpointTreeNode): void => {
    rows.set(node, provider.getTreeItem(node) as vscode.TreeItem);
    drawings++;
  };
  provider.onDidChangeTreeData((changed) => {
    setTimeout(() => {
      const nodes = (changed ?? provider.getChildren()) as CheckpointTreeNode[];
      if (!changed) rows.clear();
      for (const node of nodes) draw(node);
    }, delay);
  });
  await tree.refresh();
  for (const node of provider.getChildren() as CheckpointTreeNode[]) draw(node);
  return {
    overview,
    get drawings() {
      return drawings;
    },
    /** Somebody points at the row. */
    point: (at: number): void => {
      const [node, item] = [...rows][at]!;
      void provider.resolveTreeItem(item, node, undefined as never);
    },
    /** One second, in which the list of runs says that something is another. */
    second: async (): Promise<void> => {
      await vi.advanceTimersByTimeAsync(700);
      void tree.refresh();
      await vi.advanceTimersByTimeAsync(300);
    },
    /** In seconds, the newest first. */
    ages: (): number[] =>
      [...rows.values()].flatMap(({ description }) => {
        const age = /(?:(\d+) h )?(?:(\d+) min|(\d+) s) ago/.exec(String(description));
        if (!age) return [];
        const [hours = 0, minutes = 0, seconds = 0] = age.slice(1).map((part) => Number(part || 0));
        return [3600 * hours + 60 * minutes + seconds];
      }),
    dispose: () => {
      tree.dispose();
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_764_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const ages = [4500.3, 1805, 204, 118, 97.4, 61, 45.6, 33, 31.5, 30.6, 12, 3];

it.each([
  ['nobody reads', []],
  ['somebody reads a tooltip now and then', [8, 47, 48, 130, 200]],
])('agree with one another while %s', async (_what, pointed) => {
  const view = await shown(ages);
  try {
    for (let second = 1; second <= 300; second++) {
      if (pointed.includes(second)) view.point(second % ages.length);
      // The star goes from one row to another, which are drawn for it.
      if (second % 37 === 0) view.overview.best = { step: 1 + (second % ages.length) };
      view.overview.step += 1; // more is at risk
      await view.second();
      const found = view.ages();
      expect(found, `after ${second} s`).toHaveLength(ages.length);
      expect(found, `after ${second} s`).toEqual([...found].sort((a, b) => a - b));
    }
    expect(Math.max(...view.ages())).toBeGreaterThan(4700);
    expect(view.drawings).toBeLessThan((ages.length + 1) * (300_000 / pauses.figures));
  } finally {
    view.dispose();
  }
});

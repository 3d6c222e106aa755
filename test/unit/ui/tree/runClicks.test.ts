// Clicks on rows of the Runs view. VS Code keeps a command that has arguments on its own side,
// under an id of its own, and gives that up when the row is drawn anew: the row in the window still
// has the old id until the new one is there, and a click meanwhile ends in "Actual command not
// found". The stand-in for the editor does the same. Nor does VS Code name a selected row to us
// before it has asked for the rows that it draws anew.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RunArgument } from '../../../../src/contributions.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { ContextKeys } from '../../../../src/ui/contextKeys.js';
import type { Services } from '../../../../src/ui/services.js';
import { Reading } from '../../../../src/ui/tree/reading.js';
import { RunTree, type RunTreeNode } from '../../../../src/ui/tree/runTree.js';
import { listedRun } from '../../support/listedRun.js';
import { editor } from '../../support/treeEditor.js';

interface Command {
  command: string;
  arguments?: unknown[];
}
vi.mock('vscode', async () => (await import('../../support/treeEditor.js')).treeEditor);

/** Draws rows as VS Code does: what is returned is the command that the window has. */
class Drawing {
  private count = 0;
  private delegate: string | undefined;

  draw(item: { command?: Command }): string {
    if (this.delegate !== undefined) editor.commands.delete(this.delegate);
    this.delegate = undefined;
    const { command, arguments: given = [] } = item.command ?? { command: '' };
    if (given.length === 0) return command;
    this.delegate = `${command} /${this.count++}`;
    editor.commands.set(this.delegate, () => editor.opened.push(command, ...given));
    return this.delegate;
  }
}

async function click(id: string): Promise<void> {
  const run = editor.commands.get(id);
  if (!run) throw new Error(`Actual command not found, wanted to execute ${id}`);
  await run();
}

beforeEach(() => {
  vi.useFakeTimers();
  editor.commands.clear();
  editor.selection = [];
  editor.opened = [];
});

afterEach(() => {
  vi.useRealTimers();
});

const services = {
  lastRuns: { shown: [], onChange: () => ({ dispose: () => undefined }) },
  onBackend: () => ({ dispose: () => undefined }),
} as unknown as Services;
const keys = { update: () => undefined } as unknown as ContextKeys;
const argument: RunArgument = { profile: 'lab', id: 'r1', dir: nodePath('/runs/r1') };

it('opens the run of a row that was drawn anew while it was clicked', async () => {
  const tree = new RunTree(services, keys, new Reading());
  const run = listedRun('r1', 'running');
  const node: RunTreeNode = { kind: 'run', ...argument, overview: run };
  const drawing = new Drawing();
  const inWindow = drawing.draw(tree.getTreeItem(node));
  editor.selection = [node]; // the click selects first
  drawing.draw(tree.getTreeItem(node));
  await click(inWindow);
  expect(editor.opened).toEqual(['trainyard.openDashboard', argument]);
  tree.dispose();
});

it('opens the run of a row that the editor names only after the click', async () => {
  const tree = new RunTree(services, keys, new Reading());
  const node: RunTreeNode = { kind: 'run', ...argument, overview: listedRun('r1', 'running') };
  const clicked = click(new Drawing().draw(tree.getTreeItem(node)));
  await vi.advanceTimersByTimeAsync(700);
  expect(editor.opened).toEqual([]);
  editor.selection = [node];
  await vi.advanceTimersByTimeAsync(100);
  await clicked;
  expect(editor.opened).toEqual(['trainyard.openDashboard', argument]);
  tree.dispose();
});

it('opens a run that is shown as it was, and nothing for a row that is gone', async () => {
  const tree = new RunTree(services, keys, new Reading());
  const run = listedRun('r1', 'running');
  const seen = { id: 'r1', dir: argument.dir, name: 'first', status: 'running' };
  const node = { kind: 'last', ...argument, run: seen } as unknown as RunTreeNode;
  const live = tree.getTreeItem({ kind: 'run', ...argument, overview: run }) as { command?: Command };
  const clicked = click(new Drawing().draw(live));
  await vi.advanceTimersByTimeAsync(10_000);
  await clicked;
  expect(editor.opened).toEqual([]);
  editor.selection = [node];
  await click(new Drawing().draw(live));
  expect(editor.opened).toEqual(['trainyard.openDashboard', argument]);
  tree.dispose();
});

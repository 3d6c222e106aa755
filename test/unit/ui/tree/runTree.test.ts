// Rows of the Runs view: runs of a report below a row of their own, as they are and as they were.
import { beforeEach, expect, it, vi } from 'vitest';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
import { lastSeenOf } from '../../../../src/core/follow/lastSeen.js';
import type { RunOverview } from '../../../../src/core/follow/overview.js';
import type { ContextKeys } from '../../../../src/ui/contextKeys.js';
import type { ShownRuns } from '../../../../src/ui/lastRuns.js';
import type { Services } from '../../../../src/ui/services.js';
import { Reading } from '../../../../src/ui/tree/reading.js';
import { RunTree, type RunTreeNode } from '../../../../src/ui/tree/runTree.js';
import { listedRun } from '../../support/listedRun.js';
import { editor } from '../../support/treeEditor.js';

vi.mock('vscode', async () => (await import('../../support/treeEditor.js')).treeEditor);

const measured = (id: string): RunOverview => {
  const run = listedRun(id, 'finished');
  const file = { argv: ['train'], report: { kind: 'scaling', begun: 5 } } as unknown as RunFile;
  return { ...run, entry: { ...run.entry, run: file } };
};
const runs = [measured('b'), listedRun('mine', 'finished'), measured('a')];
const group = { profile: 'old', runs, problem: undefined };

function treeOf(...shown: ShownRuns[]): RunTree {
  const services = {
    lastRuns: { shown, onChange: () => ({ dispose: () => undefined }) },
    onBackend: () => ({ dispose: () => undefined }),
  } as unknown as Services;
  const keys = { update: (values: object) => Object.assign(editor.keys, values) } as unknown as ContextKeys;
  return new RunTree(services, keys, new Reading());
}

/** Labels, those below others indented. */
const drawn = (tree: RunTree, node?: RunTreeNode, indent = ''): string[] =>
  tree.getChildren(node).flatMap((child) => {
    const label = tree.getTreeItem(child).label as string;
    return [indent + label, ...drawn(tree, child, `${indent}  `)];
  });

beforeEach(() => {
  editor.selection = [];
});

it('puts runs of a report below a row that is closed at first, and own runs beside it', () => {
  const tree = treeOf({ profile: 'lab', runs, problem: undefined, last: undefined });
  expect(drawn(tree)).toEqual(['Scaling of lab', '  b', '  a', 'mine']);
  const [row] = tree.getChildren();
  const item = tree.getTreeItem(row!);
  expect(item.collapsibleState).toBe(1);
  expect(item.command).toBeUndefined(); // a click opens and closes it
  expect(item.contextValue).toBe('runs.report');
  expect(item.accessibilityInformation?.label).toMatch(/^Scaling of lab, 2 measured/);
  expect(item.tooltip).toContain('2 runs of a report');
  tree.dispose();
});

it('does the same in a profile that is not connected, in a row of the same id', () => {
  const current = treeOf({ profile: 'lab', runs, problem: undefined, last: undefined });
  const last = lastSeenOf({ profile: 'lab', runs, problem: undefined, seen: 1000 });
  const tree = treeOf({ profile: 'lab', runs: [], problem: undefined, last });
  expect(drawn(tree)).toEqual(['lab', '  Scaling of lab', '    b', '    a', '  mine']);
  const [row] = tree.getChildren(tree.getChildren()[0]);
  expect(tree.getTreeItem(row!).id).toBe(current.getTreeItem(current.getChildren()[0]!).id);
  tree.dispose();
  current.dispose();
});

it('shows the runs that fit a filter, says what it is, and shows all again without it', () => {
  const failed = listedRun('other', 'failed');
  const tree = treeOf(
    { profile: 'lab', runs: [...runs, failed], problem: undefined, last: undefined },
    { profile: 'old', runs: [], problem: undefined, last: lastSeenOf({ ...group, seen: 1000 }) },
  );
  tree.filter = ' status:finished MINE';
  expect(drawn(tree)).toEqual(['lab', '  mine', 'old', '  mine']);
  expect(editor.view.description).toBe('status:finished MINE · 2 of 7');
  expect(editor.keys.areRunsFiltered).toBe(true);
  tree.filter = 'status:failed';
  expect(drawn(tree)).toEqual(['other']);
  expect(() => {
    tree.filter = 'status:gone';
  }).toThrow('the filter names no status of a run: "gone"');
  expect(tree.filter).toBe('status:failed');
  tree.filter = 'nothing';
  expect(drawn(tree)).toEqual([]);
  expect(editor.view.message).toBe('No run fits the filter: nothing');
  tree.filter = '';
  expect(editor.view).toMatchObject({ description: '', message: '' });
  expect(editor.keys.areRunsFiltered).toBe(false);
  expect(drawn(tree)).toContain('  other');
  tree.dispose();
});

it('takes a selected report for its runs, the oldest first', () => {
  const tree = treeOf({ profile: 'lab', runs, problem: undefined, last: undefined });
  editor.selection = tree.getChildren();
  expect(tree.selectedRuns.map(({ id }) => id)).toEqual(['a', 'b', 'mine']);
  expect(tree.selected?.id).toBe('mine');
  tree.dispose();
});

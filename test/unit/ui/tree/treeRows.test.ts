// Which rows of a tree are drawn anew, and when: those that changed, and figures seldom, since a
// drawing closes a tooltip.
import type * as vscode from 'vscode';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Reading, readingTime } from '../../../../src/ui/tree/reading.js';
import { keptTime, pauses, TreeRows, type TreeSource } from '../../../../src/ui/tree/treeRows.js';

interface Node {
  name: string;
  figure: number;
  icon: string;
  word?: string;
  children: Node[];
}
const node = (name: string, ...children: Node[]): Node => ({ name, figure: 100, icon: 'server', children });

const itemOf = (id: string, fields: object = {}): vscode.TreeItem =>
  Object.assign(Object.create(null) as vscode.TreeItem, { id, label: id }, fields);

/** The tree as it is; what the editor has of it; what it was told. */
function shown(...roots: Node[]) {
  return shownBeside(new Reading(), ...roots);
}

function shownBeside(reading: Reading, ...roots: Node[]) {
  const source: TreeSource<Node> = {
    // New objects each time, as the trees make them.
    getChildren: (of) => (of ? of.children : roots).map((each) => ({ ...each })),
    getTreeItem: ({ name, figure, icon, word = '' }) =>
      itemOf(name, {
        description: `${figure} img/s${word}`,
        tooltip: `${name} at ${figure}`,
        iconPath: { id: icon },
        contextValue: 'host',
      }),
  };
  const rows = new TreeRows<Node>(source, reading);
  const told: (string[] | 'all')[] = [];
  const items = new Map<string, { node: Node; item: vscode.TreeItem }>();
  const take = (of?: Node): void => {
    for (const child of rows.getChildren(of)) {
      items.set(child.name, { node: child, item: rows.getTreeItem(child) });
      take(child);
    }
  };
  rows.onDidChangeTreeData((changed) => {
    told.push(changed ? changed.map(({ name }) => name) : 'all');
    if (!changed) take();
    for (const each of changed ?? []) {
      items.set(each.name, { node: each, item: rows.getTreeItem(each) });
      take(each);
    }
  });
  take();
  const point = (name: string): vscode.TreeItem['tooltip'] => {
    const { node: at, item } = items.get(name)!;
    return rows.resolveTreeItem(item, at).tooltip;
  };
  const pass = (ms: number): void => {
    for (let time = 0; time < ms; time += 1000) {
      rows.update();
      vi.advanceTimersByTime(1000);
    }
  };
  return { rows, told, items, point, pass };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells nothing while nothing changes, and then the row that changed', () => {
  const [a, b] = [node('a', node('a1')), node('b')];
  const { told, pass, items } = shown(a, b);
  const before = items.get('b')?.node;
  pass(pauses.figures);
  expect(told).toEqual([]);
  b.figure = 200;
  pass(1000);
  expect(told).toEqual([['b']]);
  expect(items.get('b')?.item.description).toBe('200 img/s');
  expect(items.get('b')?.node).toBe(before);
  a.children[0]!.figure = 300;
  pass(1000);
  expect(told).toEqual([['b'], ['a1']]);
});

it('draws figures that go on changing now and then, the last ones too', () => {
  const a = node('a');
  const { told, pass, items } = shown(a);
  for (let time = 1000; time < pauses.figures; time += 1000) {
    a.figure += 100;
    pass(1000);
  }
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1000); // without another word of the tree
  expect(told).toEqual([['a']]);
  expect(items.get('a')?.item.description).toBe(`${a.figure} img/s`);
});

it('draws a figure that is a little different a minute later, and other words soon', () => {
  const [a, b] = [node('a'), node('b')];
  const { told, pass, items } = shown(a, b);
  a.figure = 105;
  b.word = ' of two';
  pass(1000);
  expect(told).toEqual([['b']]);
  b.word = '';
  pass(pauses.words - 2000);
  expect(told).toEqual([['b']]);
  pass(2000);
  expect(told).toEqual([['b'], ['b']]);
  pass(pauses.little - pauses.words - 2000);
  expect(told).toHaveLength(2);
  pass(2000);
  expect(told).toEqual([['b'], ['b'], ['a']]);
  expect(items.get('a')?.item.description).toBe('105 img/s');
});

it('tells the row whose children are others', () => {
  const a = node('a', node('a1'));
  const { told, pass, items } = shown(a);
  a.children.push(node('a2'));
  pass(2000);
  expect(told).toEqual([['a']]);
  expect([...items.keys()]).toEqual(['a', 'a1', 'a2']);
});

it('tells all where a root is new', () => {
  const roots = [node('a')];
  const all = { name: '', figure: 0, icon: '', children: roots };
  const source: TreeSource<Node> = {
    getChildren: (of) => [...(of ?? all).children],
    getTreeItem: ({ name }) => itemOf(name),
  };
  const rows = new TreeRows<Node>(source, new Reading());
  const told: unknown[] = [];
  rows.onDidChangeTreeData((changed) => told.push(changed));
  rows.update();
  vi.advanceTimersByTime(1000);
  expect(told).toEqual([]); // nobody has asked yet
  rows.getChildren();
  roots.push(node('b'));
  rows.update();
  expect(told).toEqual([undefined]);
  expect(rows.getChildren().map(({ name }) => name)).toEqual(['a', 'b']);
});

it('lets a tooltip be read: the figures of all rows wait, of another view too', () => {
  const reading = new Reading();
  const child = node('a1');
  const [a, b] = [node('a', child), node('b')];
  const { told, pass, point, items } = shownBeside(reading, a);
  const other = shownBeside(reading, b);
  pass(pauses.figures);
  expect(items.get('a1')?.item.tooltip).toBeUndefined();
  expect(point('a1')).toBe('a1 at 100');
  for (const each of [a, child, b]) each.figure = 200;
  pass(1000);
  other.pass(readingTime - 2000);
  expect([...told, ...other.told]).toEqual([]);
  vi.advanceTimersByTime(2000); // without another word of the trees
  expect([told, other.told]).toEqual([[], [['b']]]);
  vi.advanceTimersByTime(keptTime - readingTime);
  expect(told).toEqual([['a']]); // nobody would hear of a second look at that tooltip
  expect(point('a1')).toBe('a1 at 200');
});

it('lets other words wait for the row that is read and those it is below, and for no other', () => {
  const child = node('a1');
  const [a, b] = [node('a', child), node('b')];
  const { told, pass, point } = shown(a, b);
  point('a1');
  for (const each of [a, child, b]) each.word = ' of two';
  pass(1000);
  expect(told).toEqual([['b']]);
  pass(readingTime);
  expect(told).toEqual([['b'], ['a']]);
});

it('shows at once what is more than a figure, whoever reads', () => {
  const a = node('a');
  const { told, pass, point } = shown(a);
  point('a');
  a.icon = 'warning';
  pass(1000);
  expect(told).toEqual([['a']]);
});

it('tells of a tooltip that was asked for and is another now', () => {
  const a = node('a');
  const tips = { a: 'before' };
  const source: TreeSource<Node> = {
    getChildren: () => [a],
    getTreeItem: ({ name }) => itemOf(name, { tooltip: tips.a }),
  };
  const rows = new TreeRows<Node>(source, new Reading());
  const told: unknown[] = [];
  rows.onDidChangeTreeData((changed) => told.push(changed));
  const [first] = rows.getChildren();
  const item = rows.getTreeItem(first!);
  tips.a = 'after';
  rows.update();
  expect(told).toEqual([]); // nobody has seen it
  rows.resolveTreeItem(item, first!);
  tips.a = 'later';
  vi.advanceTimersByTime(keptTime + 1000);
  expect(told).toEqual([]);
  rows.update();
  expect(told).toEqual([[a]]);
});

it('has the text of its rows, and of no others', () => {
  const { rows, items } = shown(node('a'));
  expect(rows.textOf(items.get('a')!.node)).toBe('a: 100 img/s\na at 100');
  expect(rows.textOf(node('a'))).toBeUndefined();
});

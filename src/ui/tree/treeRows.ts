// What stands between a tree and the editor. The editor hears of those rows alone whose texts have
// changed, since it draws these anew, and closes what is open over them: their tooltips. A row keeps
// its object for as long as its id is there.
import type * as vscode from 'vscode';
import { Emitter, type Disposable } from '../../core/base/lifecycle.js';
import { Throttle } from '../throttle.js';

/** A tree as it is now. Every item has an id that no other one has. */
export interface TreeSource<T> {
  getChildren(node?: T): T[];
  getTreeItem(node: T): vscode.TreeItem;
}

/** What of a row the editor shows. */
interface Shown {
  /** What a user must see at once: label, icon, menu. */
  state: string;
  description: string;
}

interface Row<T> {
  readonly id: string;
  readonly node: T;
  readonly parent: Row<T> | undefined;
  /** Ids; undefined before the editor asked for them. */
  children: readonly string[] | undefined;
  shown: Shown | undefined;
  /** As the editor asked for it last, when somebody pointed at the row. */
  tooltip: vscode.TreeItem['tooltip'];
  /** By `Date.now()`: until then its description waits, because somebody reads the tooltip. */
  readUntil: number;
  /** The same, because it was drawn a moment ago. */
  calmUntil: number;
}

/** Milliseconds for which a tooltip stays, whatever its row's figures do. */
export const readingTime = 8000;
/**
 * Milliseconds between two drawings of a row whose figures go on changing. Somebody who points at a
 * row waits half a second for its tooltip, and it does not come when the row is drawn in that time.
 */
export const calmTime = 5000;
/** Milliseconds between two comparisons. */
const interval = 250;

export class TreeRows<T extends object> implements vscode.TreeDataProvider<T>, Disposable {
  private readonly changes = new Emitter<T[] | undefined>();
  private readonly rows = new Map<string, Row<T>>();
  private readonly rowOf = new WeakMap<T, Row<T>>();
  private readonly comparing = new Throttle(
    () => {
      this.compare();
    },
    () => interval,
  );
  private roots: readonly string[] | undefined;
  private later: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly source: TreeSource<T>) {}

  /** Something may have changed. */
  update(): void {
    this.comparing.poke();
  }

  getChildren(node?: T): T[] {
    const parent = node && this.rowOf.get(node);
    const rows = this.source.getChildren(node).map((each) => this.rowFor(each, parent));
    const ids = rows.map(({ id }) => id);
    for (const id of (parent ? parent.children : this.roots) ?? []) if (!ids.includes(id)) this.forget(id);
    if (parent) parent.children = ids;
    else this.roots = ids;
    return rows.map((row) => row.node);
  }

  getTreeItem(node: T): vscode.TreeItem {
    const item = this.source.getTreeItem(node);
    const row = this.rowOf.get(node);
    if (row) {
      row.shown = shownOf(item);
      row.tooltip = undefined;
    }
    item.tooltip = undefined; // the editor asks for it when somebody points at the row
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, node: T): vscode.TreeItem {
    const { tooltip } = this.source.getTreeItem(node);
    const row = this.rowOf.get(node);
    if (row) {
      row.tooltip = tooltip;
      row.readUntil = Date.now() + readingTime;
    }
    item.tooltip = tooltip;
    return item;
  }

  /** What the row says, its tooltip included; undefined for what is no row of this tree. */
  textOf(row: object): string | undefined {
    if (!this.rowOf.has(row as T)) return undefined;
    const { label, description, tooltip } = this.source.getTreeItem(row as T);
    const words = [typeof label === 'string' ? label : label?.label, description];
    const first = words.filter((word) => typeof word === 'string' && word !== '').join(': ');
    const rest = typeof tooltip === 'string' && tooltip !== first ? tooltip : '';
    return [first, rest].filter((line) => line !== '').join('\n');
  }

  dispose(): void {
    clearTimeout(this.later);
    this.comparing.dispose();
    this.changes.dispose();
  }

  private compare(): void {
    if (!this.roots) return; // the editor has not asked yet
    clearTimeout(this.later);
    const now = Date.now();
    const rows = [...this.rows.values()];
    const read = rows.filter(({ readUntil }) => readUntil > now);
    const changed: T[] = [];
    if (!this.compareChildren(undefined, this.roots, new Set(read.flatMap(lineOf)), changed)) {
      this.changes.fire(undefined);
    } else if (changed.length > 0) this.changes.fire(changed);
    const times = rows.flatMap(({ readUntil, calmUntil }) => [readUntil, calmUntil]);
    const next = Math.min(...times.filter((time) => time > now));
    if (next === Infinity) return;
    this.later = setTimeout(() => {
      this.update();
    }, next - now);
  }

  /** False where there are other rows than before. Rows of which the editor is to be told join `changed`. */
  private compareChildren(
    parent: Row<T> | undefined,
    before: readonly string[],
    read: ReadonlySet<Row<T>>,
    changed: T[],
  ): boolean {
    const now = this.source.getChildren(parent?.node).map((node) => ({ id: this.idOf(node), node }));
    if (now.map(({ id }) => id).join('\n') !== before.join('\n')) return false;
    for (const { id, node } of now) {
      const row = this.rows.get(id);
      if (!row) return false;
      Object.assign(row.node, node);
      if (this.isOther(row, read.has(row))) changed.push(row.node);
      else if (row.children && !this.compareChildren(row, row.children, read, changed)) {
        changed.push(row.node);
      }
    }
    return true;
  }

  /** A row that is drawn anew takes those below it along, so it waits for their tooltips too. */
  private isOther(row: Row<T>, isRead: boolean): boolean {
    if (!row.shown) return false;
    const item = this.source.getTreeItem(row.node);
    const { state, description } = shownOf(item);
    if (state !== row.shown.state) return true;
    if (isRead || row.calmUntil > Date.now()) return false;
    const isOther =
      description !== row.shown.description || (row.tooltip !== undefined && row.tooltip !== item.tooltip);
    if (isOther) row.calmUntil = Date.now() + calmTime;
    return isOther;
  }

  private rowFor(node: T, parent: Row<T> | undefined): Row<T> {
    const id = this.idOf(node);
    const known = this.rows.get(id);
    if (known && known.parent === parent) {
      Object.assign(known.node, node);
      return known;
    }
    const row: Row<T> = {
      ...{ id, node, parent, children: undefined },
      ...{ shown: undefined, tooltip: undefined, readUntil: 0, calmUntil: 0 },
    };
    this.rows.set(id, row);
    this.rowOf.set(node, row);
    return row;
  }

  private forget(id: string): void {
    for (const child of this.rows.get(id)?.children ?? []) this.forget(child);
    this.rows.delete(id);
  }

  private idOf(node: T): string {
    return this.source.getTreeItem(node).id ?? '';
  }
}

/** The row, and those that it is below. */
function lineOf<T>(row: Row<T>): Row<T>[] {
  return [row, ...(row.parent ? lineOf(row.parent) : [])];
}

function shownOf(item: vscode.TreeItem): Shown {
  const { label, iconPath, contextValue, collapsibleState, command, resourceUri } = item;
  const state = { label, iconPath, contextValue, collapsibleState, command, resourceUri };
  return { state: JSON.stringify(state), description: String(item.description) };
}

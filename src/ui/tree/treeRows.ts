// What stands between a tree and the editor. The editor hears of those rows alone whose texts have
// changed, since it draws these anew. A drawing closes the tooltip of the row, and one that is
// about to come never comes. So figures are drawn seldom. A row keeps its object for as long as its
// id is there.
import type * as vscode from 'vscode';
import { Emitter, type Disposable } from '../../core/base/lifecycle.js';
import { Throttle } from '../throttle.js';
import { differenceOf, type Difference } from './difference.js';
import { readingTime, type Reading } from './reading.js';

/** A tree as it is now. Every item has an id that no other one has. */
export interface TreeSource<T> {
  getChildren(node?: T): T[];
  /** `now`: by `Date.now()`, from which it counts ages. */
  getTreeItem(node: T, now: number): vscode.TreeItem;
  /** Its rows are drawn by one and the same moment, so that no two ages contradict each other. */
  readonly isDrawnTogether?: boolean;
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
  /** By `Date.now()`: when its tooltip was asked for since the last drawing; 0 where it was not. */
  askedAt: number;
  /** By `Date.now()`, of any drawing. */
  drawnAt: number;
  /** The same, of the last one for the sake of its description. */
  changedAt: number;
}

/** Milliseconds from one drawing of a row to the next, by what is another since then. */
export const pauses: Readonly<Record<Exclude<Difference, 'none'>, number>> = {
  words: 5000,
  figures: 10_000,
  little: 60_000,
};
/**
 * Milliseconds for which the figures of a row wait whose tooltip was read. The editor keeps that
 * tooltip, and does not ask when somebody points at the row again.
 */
export const keptTime = 60_000;
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
  /** When the next row that waits is due, by `Date.now()`; Infinity while none waits. */
  private due = Infinity;
  /** By `Date.now()`: by which the rows are drawn. */
  private moment = Date.now();

  readonly onDidChangeTreeData = this.changes.event;

  /** All trees have the same `reading`. */
  constructor(
    private readonly source: TreeSource<T>,
    private readonly reading: Reading,
  ) {}

  /** Something may have changed. */
  update(): void {
    this.comparing.poke();
  }

  getChildren(node?: T): T[] {
    if (!node) this.moment = Date.now(); // all rows are drawn
    const parent = node && this.rowOf.get(node);
    const rows = this.source.getChildren(node).map((each) => this.rowFor(each, parent));
    const ids = rows.map(({ id }) => id);
    for (const id of (parent ? parent.children : this.roots) ?? []) if (!ids.includes(id)) this.forget(id);
    if (parent) parent.children = ids;
    else this.roots = ids;
    return rows.map((row) => row.node);
  }

  getTreeItem(node: T): vscode.TreeItem {
    const item = this.source.getTreeItem(node, this.moment);
    const row = this.rowOf.get(node);
    if (row) {
      row.shown = shownOf(item);
      row.tooltip = undefined;
      row.askedAt = 0;
      row.drawnAt = Date.now();
    }
    item.tooltip = undefined; // the editor asks for it when somebody points at the row
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, node: T): vscode.TreeItem {
    const { tooltip } = this.source.getTreeItem(node, this.moment);
    const row = this.rowOf.get(node);
    if (row) {
      row.tooltip = tooltip;
      row.askedAt = Date.now();
      this.reading.begins();
    }
    item.tooltip = tooltip;
    return item;
  }

  /** What the row says, its tooltip included; undefined for what is no row of this tree. */
  textOf(row: object): string | undefined {
    if (!this.rowOf.has(row as T)) return undefined;
    const { label, description, tooltip } = this.source.getTreeItem(row as T, this.moment);
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
    this.due = Infinity;
    const asked = this.tooltipsAsked();
    const changed: T[] = [];
    if (!this.compareChildren(undefined, this.roots, asked, changed)) {
      this.changes.fire(undefined);
    } else if (changed.length > 0) {
      if (this.source.isDrawnTogether === true) this.takeAlong(changed);
      this.changes.fire(changed);
    }
    if (this.due === Infinity) return;
    this.later = setTimeout(() => {
      this.update();
    }, this.due - Date.now());
  }

  /**
   * False where there are other rows than before. Rows of which the editor is to be told join
   * `changed`. `asked`: as `tooltipsAsked`.
   */
  private compareChildren(
    parent: Row<T> | undefined,
    before: readonly string[],
    asked: ReadonlyMap<Row<T>, number>,
    changed: T[],
  ): boolean {
    const now = this.source.getChildren(parent?.node).map((node) => ({ id: this.idOf(node), node }));
    if (now.map(({ id }) => id).join('\n') !== before.join('\n')) return false;
    for (const { id, node } of now) {
      const row = this.rows.get(id);
      if (!row) return false;
      Object.assign(row.node, node);
      if (this.isOther(row, asked.get(row) ?? 0)) changed.push(row.node);
      else if (row.children && !this.compareChildren(row, row.children, asked, changed)) {
        changed.push(row.node);
      }
    }
    return true;
  }

  /** When the newest tooltip of a row, or of one that is drawn with it, was asked for. */
  private tooltipsAsked(): Map<Row<T>, number> {
    const rows = [...this.rows.values()];
    if (this.source.isDrawnTogether === true) {
      const newest = rows.reduce((latest, { askedAt }) => Math.max(latest, askedAt), 0);
      return new Map(rows.map((row) => [row, newest]));
    }
    const asked = new Map<Row<T>, number>();
    for (const row of rows) {
      for (const each of lineOf(row)) asked.set(each, Math.max(asked.get(each) ?? 0, row.askedAt));
    }
    return asked;
  }

  /** All others that would read differently join the rows that are drawn now. */
  private takeAlong(changed: T[]): void {
    this.moment = Date.now();
    const due = new Set(changed);
    for (const row of this.rows.values()) {
      if (!row.shown || due.has(row.node)) continue;
      const { state, description } = shownOf(this.source.getTreeItem(row.node, this.moment));
      if (state === row.shown.state && description === row.shown.description) continue;
      row.changedAt = row.drawnAt = this.moment;
      changed.push(row.node);
    }
  }

  /** A row that is drawn anew takes those below it along, so it waits for their tooltips too. */
  private isOther(row: Row<T>, askedAt: number): boolean {
    if (!row.shown) return false;
    const item = this.source.getTreeItem(row.node, Date.now());
    const { state, description } = shownOf(item);
    if (state !== row.shown.state) return true;
    const difference = differenceOf(row.shown.description, description);
    const isOld = row.tooltip !== undefined && row.tooltip !== item.tooltip;
    if (difference === 'none' && !isOld) return false;
    // The editor keeps a tooltip that was read, so its row is drawn for a new one.
    const kind = difference !== 'words' && isOld ? 'figures' : (difference as keyof typeof pauses);
    const due =
      kind === 'words'
        ? Math.max(row.changedAt + pauses.words, askedAt + readingTime)
        : Math.max(row.drawnAt + pauses[kind], askedAt + keptTime, this.reading.end);
    if (due > Date.now()) {
      this.due = Math.min(this.due, due);
      return false;
    }
    row.changedAt = row.drawnAt = Date.now();
    return true;
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
      ...{ shown: undefined, tooltip: undefined, askedAt: 0, drawnAt: 0, changedAt: 0 },
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
    return this.source.getTreeItem(node, this.moment).id ?? '';
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

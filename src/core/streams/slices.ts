// Growing data that is sent on in pieces: who holds what, and from where on it must be sent again.

/** What a receiver holds: rows before `length` of data that still had this `revision`. */
export interface Cursor {
  revision: number;
  length: number;
}

/** Rows from `from` on replace what stood there. */
export interface Slice<T> {
  from: number;
  rows: T;
}

/**
 * The first row that a receiver with `cursor` lacks, when the last row it has may have changed
 * since.
 */
export function sliceStart(cursor: Cursor | undefined, now: Cursor): number {
  if (cursor?.revision !== now.revision) return 0;
  return Math.max(0, Math.min(cursor.length, now.length) - 1);
}

/** A list that is appended to; what goes out of its middle or its front is a new revision. */
export class GrowingList<T> {
  private items: T[] = [];
  private revision = 0;

  constructor(readonly capacity = Infinity) {}

  push(item: T): void {
    if (this.items.length >= this.capacity) this.replace(this.items.slice(Math.ceil(this.capacity / 4)));
    this.items.push(item);
  }

  replace(items: T[]): void {
    this.items = items;
    this.revision++;
  }

  get all(): readonly T[] {
    return this.items;
  }

  cursor(): Cursor {
    return { revision: this.revision, length: this.items.length };
  }

  slice(cursor: Cursor | undefined): Slice<T[]> {
    const same = cursor?.revision === this.revision;
    const from = same ? Math.min(cursor.length, this.items.length) : 0;
    return { from, rows: this.items.slice(from) };
  }
}

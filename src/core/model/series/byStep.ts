// What a run has at some of its steps (evaluations, checkpoints): one a step, in order, bounded.
import { GrowingList, type Cursor, type Slice } from '../../streams/slices.js';

/** Items kept; a run of weeks makes more checkpoints than anybody can look at. */
const mostItems = 4000;

/** A bounded list with one item for each step, in order of the steps. */
export class ByStep<T extends { step: number }> {
  private readonly list = new GrowingList<T>();
  private dropped = 0;

  /**
   * Over `capacity` the oldest quarter is dropped. `kept` may name one of those dropped that stays.
   */
  constructor(
    private readonly kept: (dropped: readonly T[]) => T | undefined = () => undefined,
    private readonly capacity = mostItems,
  ) {}

  /** Takes the place of the item of the same step. */
  put(item: T): void {
    const { all } = this.list;
    if ((all.at(-1)?.step ?? -1) < item.step) this.list.push(item);
    else {
      const others = all.filter(({ step }) => step !== item.step);
      this.list.replace([...others, item].sort((a, b) => a.step - b.step));
    }
    if (this.list.all.length > this.capacity) this.drop();
  }

  /** Removes the items of later steps than `after`. */
  cut(after: number): void {
    const { all } = this.list;
    if ((all.at(-1)?.step ?? -1) <= after) return;
    this.list.replace(all.filter(({ step }) => step <= after));
  }

  /** By step, the smallest first. */
  get all(): readonly T[] {
    return this.list.all;
  }

  at(step: number): T | undefined {
    return this.list.all.find((item) => item.step === step);
  }

  /** Of the greatest step. */
  get latest(): T | undefined {
    return this.list.all.at(-1);
  }

  /** The dropped ones included. */
  get count(): number {
    return this.dropped + this.list.all.length;
  }

  cursor(): Cursor {
    return this.list.cursor();
  }

  /** What a receiver with `cursor` lacks. */
  slice(cursor: Cursor | undefined): Slice<T[]> {
    return this.list.slice(cursor);
  }

  private drop(): void {
    const { all } = this.list;
    const quarter = Math.ceil(this.capacity / 4);
    const stays = this.kept(all.slice(0, quarter));
    const rest = all.slice(quarter);
    this.list.replace(stays ? [stays, ...rest] : rest);
    this.dropped += all.length - this.list.all.length;
  }
}

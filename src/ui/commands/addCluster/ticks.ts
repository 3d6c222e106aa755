// The ticks of a list whose items are assigned anew while somebody ticks. The editor takes an
// assignment up later. A tick that is made until then is gone from the screen with the old list,
// and its event comes after the assignment.

/** What is needed of a `vscode.QuickPick`. */
interface TickBox<T> {
  items: readonly T[];
  selectedItems: readonly T[];
}

export class Ticks<T> {
  /** What somebody wants ticked. */
  private wanted: readonly T[] = [];
  /** What the screen shows ticked, as far as events have said. */
  private shown: readonly T[] = [];
  /** Assigned ticks that the screen does not show yet, as far as is known. */
  private sent: (readonly T[])[] = [];
  /** Assignments that the editor may not have taken up. */
  private flying = 0;

  /**
   * `passed` resolves when the editor has taken up what was assigned before the call, and the
   * events from before that have come.
   */
  constructor(
    private readonly box: TickBox<T>,
    private readonly passed: () => Promise<void>,
  ) {}

  get all(): readonly T[] {
    return this.wanted;
  }

  /**
   * Shows these items, with the ticks so far. The editor names an item by its place: one that stays
   * keeps its place, or an event from before would be of another.
   */
  assign(items: readonly T[]): void {
    this.box.items = items;
    this.wanted = this.wanted.filter((item) => items.includes(item));
    this.send();
  }

  /** An event of the editor says that these are ticked. */
  take(ticked: readonly T[]): void {
    if (this.flying === 0) {
      this.wanted = ticked;
    } else {
      // Somebody changed one tick, or the event tells of an assignment: it is of the nearest list.
      const before = this.nearest(ticked);
      const added = missing(ticked, before).filter((item) => !this.wanted.includes(item));
      this.wanted = [...missing(this.wanted, missing(before, ticked)), ...added];
    }
    this.shown = ticked;
  }

  /** What was ticked on the screen before it was these. */
  private nearest(ticked: readonly T[]): readonly T[] {
    let nearest = this.shown;
    let least = distance(nearest, ticked);
    for (const each of this.sent) {
      if (each.length === 0 && ticked.length === 0) continue; // the editor says nothing of such a one
      if (distance(each, ticked) >= least) continue;
      nearest = each;
      least = distance(each, ticked);
    }
    this.sent.splice(0, this.sent.indexOf(nearest) + 1);
    return nearest;
  }

  private send(): void {
    const ticks = [...this.wanted]; // its own array: it is looked for
    this.box.selectedItems = ticks;
    this.sent.push(ticks);
    this.flying++;
    const land = (): void => {
      this.land(ticks);
    };
    // A round trip that fails has ended all the same, and no other event would tell of its end.
    void this.passed().then(land, land);
  }

  /** The editor has these. Where a tick came in between, it is ticked again. */
  private land(ticks: readonly T[]): void {
    this.flying--;
    const at = this.sent.indexOf(ticks);
    if (at >= 0) {
      this.sent.splice(0, at + 1);
      this.shown = ticks;
    }
    if (this.flying === 0 && distance(this.wanted, this.shown) > 0) this.send();
  }
}

/** Those of `items` that are not among the others. */
const missing = <T>(items: readonly T[], others: readonly T[]): T[] =>
  items.filter((item) => !others.includes(item));

/** How many ticks differ. */
const distance = <T>(one: readonly T[], other: readonly T[]): number =>
  missing(one, other).length + missing(other, one).length;

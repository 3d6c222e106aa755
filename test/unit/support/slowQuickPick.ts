// A vscode.QuickPick as extHostQuickOpen.ts, mainThreadQuickOpen.ts and quickInput.ts make it: the
// extension's side numbers the items anew with each assignment and sends assignments by a timer.
// The screen takes them up later, and says of ticks by the number of the item.
import { Emitter } from '../../../src/core/base/lifecycle.js';

interface Item {
  label: string;
  description?: string | undefined;
}
interface Update {
  items?: Item[];
  selected?: number[];
}

/** Milliseconds of a message, in either direction. They keep their order. */
export const latency = 50;

export class SlowQuickPick {
  title = '';
  placeholder = '';
  canSelectMany = false;
  ignoreFocusOut = false;
  matchOnDescription = false;
  buttons: readonly unknown[] = [];
  value = '';
  activeItems: readonly Item[] = [];
  private numbered: Item[] = [];
  private selected: Item[] = [];
  private pending: Update | undefined;
  private isShown = false;
  private readonly screen = { items: [] as Item[], ticked: [] as number[] };
  private readonly selections = new Emitter<Item[]>();
  private readonly values = new Emitter<string>();
  private readonly accepts = new Emitter<undefined>();
  private readonly hides = new Emitter<undefined>();
  readonly onDidChangeSelection = this.selections.event;
  readonly onDidChangeValue = this.values.event;
  readonly onDidAccept = this.accepts.event;
  readonly onDidHide = this.hides.event;
  readonly onDidTriggerButton = new Emitter<undefined>().event;

  get items(): readonly Item[] {
    return this.numbered;
  }
  set items(items: readonly Item[]) {
    this.numbered = [...items];
    this.update({ items: items.map((item) => ({ ...item })) });
  }
  get selectedItems(): readonly Item[] {
    return this.selected;
  }
  set selectedItems(items: readonly Item[]) {
    this.selected = items.filter((item) => this.numbered.includes(item));
    this.update({ selected: this.selected.map((item) => this.numbered.indexOf(item)) });
  }

  show(): void {
    this.isShown = true;
    this.dispatch();
  }
  hide(): void {
    this.hides.fire(undefined);
  }
  dispose(): void {
    this.isShown = false;
  }

  /** Goes to the screen and comes back, as a command of the editor. */
  passed(): Promise<void> {
    return new Promise((resolve) =>
      setTimeout(() => {
        this.toHost(resolve);
      }, latency),
    );
  }

  // On the screen.

  /** What somebody sees ticked. */
  get ticked(): string[] {
    return this.screen.ticked.map((at) => this.screen.items[at]?.label ?? '');
  }
  get listed(): string[] {
    return this.screen.items.map(({ label }) => label);
  }
  /** False where the list has no such item. */
  toggle(label: string): boolean {
    const { screen } = this;
    const at = screen.items.findIndex((item) => item.label === label);
    if (at < 0) return false;
    const isTicked = screen.ticked.includes(at);
    screen.ticked = isTicked ? screen.ticked.filter((each) => each !== at) : [...screen.ticked, at].sort();
    this.say();
    return true;
  }
  type(text: string): void {
    this.toHost(() => {
      this.value = text;
      this.values.fire(text);
    });
  }
  accept(): void {
    this.toHost(() => {
      this.accepts.fire(undefined);
    });
  }

  private say(): void {
    const numbers = [...this.screen.ticked];
    this.toHost(() => {
      this.selected = numbers.flatMap((at) => this.numbered[at] ?? []);
      this.selections.fire(this.selected);
    });
  }
  private toHost(act: () => void): void {
    setTimeout(act, latency);
  }
  private update(update: Update): void {
    const first = !this.pending;
    this.pending = { ...this.pending, ...update };
    if (this.isShown && first) {
      setTimeout(() => {
        this.dispatch();
      }, 0);
    }
  }
  private dispatch(): void {
    const update = this.pending;
    this.pending = undefined;
    if (update) {
      setTimeout(() => {
        this.takeUp(update);
      }, latency);
    }
  }
  private takeUp({ items, selected }: Update): void {
    const { screen } = this;
    if (items) screen.items = items;
    const before = items ? [] : screen.ticked; // a new list has no ticks
    if (items) screen.ticked = [];
    if (!selected) return;
    screen.ticked = [...selected].sort();
    if (before.join() !== screen.ticked.join()) this.say();
  }
}

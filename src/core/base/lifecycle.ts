// Who owns what: everything that holds a timer, a connection or a listener is a Disposable with
// exactly one owner.
import { setMaxListeners } from 'node:events';

/** Something that its one owner must release. */
export interface Disposable {
  dispose(): void;
}

/**
 * Owns other disposables; releases them in reverse order. Adding to a disposed store disposes at
 * once.
 */
export class DisposableStore implements Disposable {
  private readonly items: Disposable[] = [];
  private done = false;

  get isDisposed(): boolean {
    return this.done;
  }

  add<T extends Disposable>(item: T): T {
    if (this.done) item.dispose();
    else this.items.push(item);
    return item;
  }

  /** Registers a plain function. */
  defer(release: () => void): void {
    this.add({ dispose: release });
  }

  /** Disposes all, even when one of them throws; the first error is thrown at the end. */
  dispose(): void {
    this.done = true;
    const errors: unknown[] = [];
    for (let item = this.items.pop(); item !== undefined; item = this.items.pop()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** What an `Event` calls with each value. */
export type Listener<T> = (value: T) => void;
/** Adds a listener. The caller owns the disposable returned; disposing it removes the listener. */
export type Event<T> = (listener: Listener<T>) => Disposable;

/**
 * Delivers values to listeners in the order they came. A listener that throws does not keep the
 * value from the others: its error is rethrown in a task of its own, where the process's handler
 * for defects sees it.
 */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<{ call: Listener<T> }>();
  private done = false;

  readonly event: Event<T> = (call) => {
    const entry = { call };
    if (!this.done) this.listeners.add(entry);
    return { dispose: () => this.listeners.delete(entry) };
  };

  get listenerCount(): number {
    return this.listeners.size;
  }

  fire(value: T): void {
    for (const entry of [...this.listeners]) {
      if (!this.listeners.has(entry)) continue;
      try {
        entry.call(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  dispose(): void {
    this.done = true;
    this.listeners.clear();
  }
}

/**
 * One that every node of a cluster listens to, without the warning that Node gives from the
 * eleventh on.
 */
export function sharedAbort(): AbortController {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  return abort;
}

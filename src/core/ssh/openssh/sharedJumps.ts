// Jump hosts of the user's own ssh: one login at each, shared by all that are reached through it.
import { Cancelled } from '../../errors.js';
import type { OpensshConnection } from './opensshConnection.js';

export interface Lease {
  connection: OpensshConnection;
  release(): void;
}

interface Entry {
  users: number;
  opening: Promise<OpensshConnection>;
  cancel: AbortController;
}

export class SharedJumps {
  private readonly entries = new Map<string, Entry>();

  /** `open` is called for the first who wants it; the connection ends with the last. */
  async lease(
    key: string,
    open: (signal: AbortSignal) => Promise<OpensshConnection>,
    signal: AbortSignal,
  ): Promise<Lease> {
    const entry = this.entries.get(key) ?? this.begin(key, open);
    entry.users++;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      if (--entry.users === 0) this.end(key, entry);
    };
    try {
      return { connection: await orCancelled(entry.opening, signal), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  private begin(key: string, open: (signal: AbortSignal) => Promise<OpensshConnection>): Entry {
    const cancel = new AbortController();
    const entry: Entry = { users: 0, opening: open(cancel.signal), cancel };
    this.entries.set(key, entry);
    const forget = (): void => {
      this.forget(key, entry);
    };
    entry.opening.then((connection) => connection.onClose(forget), forget);
    return entry;
  }

  private forget(key: string, entry: Entry): void {
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }

  private end(key: string, entry: Entry): void {
    this.forget(key, entry);
    entry.cancel.abort();
    entry.opening.then(
      (connection) => {
        connection.dispose();
      },
      () => undefined, // whoever waited for it was told
    );
  }
}

function orCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      reject(new Cancelled());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', cancel);
    });
  });
}

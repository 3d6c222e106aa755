// A node that a run had lost, and that joins it again, told apart from one that joins at the start.
import type { RunEvent } from '../contracts/runSchema.js';

/** Reads events in the order of the journal. */
export class ReturnedNodes {
  private readonly lost = new Set<string>();

  /** A line for people, where the event is the return of a node that was lost. */
  add(event: RunEvent): string | undefined {
    if (event.kind === 'node_lost') this.lost.add(event.host);
    if (event.kind === 'finished') this.lost.clear(); // all join anew, should somebody resume it
    if (event.kind !== 'node_joined' || !this.lost.delete(event.host)) return undefined;
    return `${event.host} is back and joins again`;
  }
}

// Where a run's head is reached, and where its processes meet.
import type { Host } from '../contracts/profileSchema.js';

/**
 * The address of a run's head: `address`, by which the other nodes reach it. A run on one node
 * alone needs no name that somebody has to resolve, unless the profile names an address.
 */
export function headAddress(host: Host | undefined, address: string, nodes: number): string {
  return nodes > 1 ? address : (host?.address ?? '127.0.0.1');
}

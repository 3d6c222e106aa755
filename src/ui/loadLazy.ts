// The extension's one dynamic import. It has a file of its own, since what lazy.ts loads needs
// services.ts.
import type * as Lazy from './lazy.js';

/** The core and the commands on it. */
export function loadLazy(): Promise<typeof Lazy> {
  return import('./lazy.js');
}

// The set-up program as it goes to a node.
import { join } from 'node:path';
import { readBootstrap } from '../../../src/core/setup/payload.js';

export const program = await readBootstrap({
  bootstrap: join(import.meta.dirname, '../../../native/node'),
});

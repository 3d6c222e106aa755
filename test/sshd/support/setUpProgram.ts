// The set-up program as it goes to a node.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrapParts } from '../../../src/core/setup/payload.js';

const source = join(import.meta.dirname, '../../../native/node');

export const program = bootstrapParts
  .map((part) => readFileSync(join(source, `${part}.py`), 'utf8'))
  .join('\n\n');

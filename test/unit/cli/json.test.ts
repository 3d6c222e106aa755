// What `--json` prints has a schema, of each verb.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { outputJsonSchema } from '../../../src/cli/json/jsonSchema.js';
import { outputRecords } from '../../../src/cli/json/records.js';
import { outputOfVerbs } from '../../../src/cli/json/verbs.js';
import { verbs } from '../../../src/cli/table.js';

it('of each verb it is known which lines it prints, and each line is of a verb', () => {
  expect(Object.keys(outputOfVerbs).sort()).toEqual(verbs.map(({ verb }) => verb).sort());
  const printed = new Set(Object.values(outputOfVerbs).flat());
  expect([...printed].sort()).toEqual(Object.keys(outputRecords).sort());
});

it('the file in docs is what the schemas make', () => {
  const file = join(import.meta.dirname, '../../../docs/contracts/output.schema.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(outputJsonSchema())));
});

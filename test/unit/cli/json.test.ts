// What `--json` prints has a schema, of each verb.
import { expect, it } from 'vitest';
import { outputRecords } from '../../../src/cli/json/records.js';
import { outputOfVerbs } from '../../../src/cli/json/verbs.js';
import { verbs } from '../../../src/cli/table.js';

it('of each verb it is known which lines it prints, and each line is of a verb', () => {
  expect(Object.keys(outputOfVerbs).sort()).toEqual(verbs.map(({ verb }) => verb).sort());
  const printed = new Set(Object.values(outputOfVerbs).flat());
  expect([...printed].sort()).toEqual(Object.keys(outputRecords).sort());
});

// What counts as another text of a row, and what as the same with other figures.
import { expect, it } from 'vitest';
import { differenceOf } from '../../../../src/ui/tree/difference.js';

it.each([
  ['running · 34% · 3 min left · 412 img/s', 'running · 34% · 3 min left · 412 img/s', 'none'],
  ['running · 34% · 3 min left · 412 img/s', 'running · 36% · 3 min left · 380 img/s', 'little'],
  ['running · 34% · 3 min left · 412 img/s', 'running · 34% · 3 min left · 350 img/s', 'figures'],
  ['running · 0% · 1,204 img/s', 'running · 3% · 1,204 img/s', 'figures'],
  ['running · 34%', 'evaluating · 34%', 'words'],
  ['running · 34%', 'running · 34% · 74.1%', 'words'],
  ['2 cores at 3%, 3.1/23.5 GB', '2 cores at 5%, 3.2/23.5 GB', 'little'],
  ['2 cores at 3%, 3.1/23.5 GB', '2 cores at 97%, 3.1/23.5 GB', 'figures'],
  ['3 h 10 min left', '3 h 2 min left', 'little'],
  ['1 min left', '58 s left', 'little'],
  ['1 min left', '50 s left', 'figures'],
  ['2 h left', '1 h 50 min left', 'little'],
  ['loss 2.3e-7', 'loss 2.25e-7', 'little'],
  ['loss 0.0000012', 'loss 8e-7', 'figures'],
  ['ours: mlp-41', 'ours: mlp-42', 'words'],
])('%s, then %s: %s', (before, now, wanted) => {
  expect(differenceOf(before, now)).toBe(wanted);
  expect(differenceOf(now, before)).toBe(wanted);
});

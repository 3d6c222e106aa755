import { expect, it } from 'vitest';
import { UserError } from '../../../src/core/base/errors.js';
import { lineSearch } from '../../../src/cli/lineSearch.js';

it('finds an expression anywhere in a line, with or without capitals', () => {
  const lines = ['step 10 loss 2.5', 'CUDA out of memory', 'Loss is NaN'];
  const found = (pattern: string, ignoreCase = false) => lines.filter(lineSearch(pattern, ignoreCase));
  expect(found('loss')).toEqual([lines[0]]);
  expect(found('loss', true)).toEqual([lines[0], lines[2]]);
  expect(found('^CUDA|NaN$')).toEqual([lines[1], lines[2]]);
  expect(found(String.raw`\d\.\d`)).toEqual([lines[0]]);
  expect(found('')).toEqual(lines);
});

it.each([
  ['a(b', /^--grep a\(b is no regular expression: unterminated group/],
  ['*', /^--grep \* is no regular expression: nothing to repeat/],
  ['a: [z-a]', /^--grep a: \[z-a\] is no regular expression: range out of order in character class/],
])('says what is wrong with %s', (pattern, message) => {
  expect(() => lineSearch(pattern, false)).toThrow(message);
  expect(() => lineSearch(pattern, true)).toThrow(UserError);
});

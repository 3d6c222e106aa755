// What others say is shown so that it cannot write over what stands on a screen.
import { expect, test } from 'vitest';
import { errorText, UserError } from '../../../../src/core/base/errors.js';
import { visible } from '../../../../src/core/base/visible.js';

test.each([
  ['\r\x1b[KPassword: ', '\\x0d\\x1b[KPassword: '],
  ['\x07\x08\x7f\x9b1A', '\\x07\\x08\\x7f\\x9b1A'],
  ['abc\u202edef\u2066\u2028', 'abc\\u202edef\\u2066\\u2028'],
  ['two\r\nlines\n\tand a tab', 'two\nlines\n\tand a tab'],
  ['Größe 日本 \u{1f600} é', 'Größe 日本 \u{1f600} é'],
])('%j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('no error has control characters, whatever it quotes', () => {
  const { message } = new UserError('connection', 'it says: \x1b]0;title\x07\r\nthe end', 'Look\x1b[2J');
  expect(message).toBe('it says: \\x1b]0;title\\x07 the end. Look\\x1b[2J.');
  expect(errorText(new Error('a\x1b[1A'))).toBe('a\\x1b[1A');
});

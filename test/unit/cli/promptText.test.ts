// A question in the terminal: who asks stands before each of its lines.
import { expect, test } from 'vitest';
import { promptText } from '../../../src/cli/prompter.js';

test('a server cannot make a line that looks like the question of another', () => {
  const request = { host: 'gpu1', user: 'me', kind: 'keyboard-interactive', echo: false } as const;
  expect(promptText({ ...request, prompt: 'wrong.\nroot@bank: Password: ' })).toBe(
    'me@gpu1: wrong.\nme@gpu1: root@bank: Password: ',
  );
});

// Many names of nodes in few words.
import { expect, it } from 'vitest';
import { namesText } from '../../../../src/core/model/hosts/nodeNames.js';

it.each([
  [[], ''],
  [['gpu1'], 'gpu1'],
  [['gpu1', 'gpu2'], 'gpu1, gpu2'],
  [['gpu1', 'gpu2', 'gpu3'], 'gpu1-gpu3'],
  [['gpu1', 'gpu3', 'gpu4', 'gpu5', 'x', 'gpu6'], 'gpu1, gpu3-gpu5, x, gpu6'],
  [['n08', 'n09', 'n10'], 'n08-n10'],
  [['n8', 'n09', 'n10'], 'n8, n09, n10'],
  [['a1', 'b2', 'c3'], 'a1, b2, c3'],
  [['10.0.0.9', '10.0.0.10', '10.0.0.11'], '10.0.0.9-10.0.0.11'],
  [['head', 'login', 'x'], 'head, login, x'],
])('%j is %j', (names, text) => {
  expect(namesText(names)).toBe(text);
});

import { expect, it } from 'vitest';
import { hostsText, ranksText } from '../../../../src/core/model/hosts/rankText.js';

it('names ranks, and of many that follow one another the first and the last', () => {
  expect(ranksText([3])).toBe('rank 3');
  expect(ranksText([0, 1])).toBe('ranks 0, 1');
  expect(ranksText([0, 1, 2, 5, 7, 8, 10, 11, 12, 13])).toBe('ranks 0-2, 5, 7, 8, 10-13');
  expect(ranksText(Array.from({ length: 256 }, (_, rank) => rank))).toBe('ranks 0-255');
});

it('names hosts, and counts those of many', () => {
  expect(hostsText(['gpu1', 'gpu2'])).toBe('gpu1, gpu2');
  expect(hostsText(['a', 'b', 'c', 'd'])).toBe('a, b, c, d');
  expect(hostsText(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
});

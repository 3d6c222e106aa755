// Who gets a folder from whom, and the line that shows how far they are.
import { expect, it } from 'vitest';
import { chainOf, givers, progressText, shareText } from '../../../../src/core/stage/order.js';

const node = (name: string, state: 'same' | 'whole' | 'lacks'): { name: string; plan: never } => ({
  name,
  plan: { state, files: 0, bytes: 0 } as never,
});

it('puts those that have everything first, then the node of the source, and leaves out who sees its disk', () => {
  const [a, b, c, d, e] = [
    node('a', 'lacks'),
    node('b', 'lacks'),
    node('c', 'same'),
    node('d', 'whole'),
    node('e', 'lacks'),
  ];
  expect(chainOf([a, b, c, d, e], b).map(({ name }) => name)).toEqual(['d', 'b', 'a', 'e']);
  expect(chainOf([a, b, e], undefined).map(({ name }) => name)).toEqual(['a', 'b', 'e']);
});

it('asks the node before, then those before that one, and the source last', () => {
  expect(givers(['a', 'b', 'c'], 2, 'source')).toEqual(['b', 'a', 'source']);
  expect(givers(['a', 'b', 'c'], 0, 'source')).toEqual(['source']);
});

it('shows each node, and of many those that are behind', () => {
  const at = (name: string, done: number, isOver = false): Parameters<typeof progressText>[0][number] => ({
    name,
    done: done * 1e9,
    bytes: 3e9,
    isOver,
  });
  expect(shareText(5e5, 2e6)).toBe('0.5 of 2.0 MB');
  expect(progressText([at('a', 1.2), at('b', 1), at('c', 3, true)])).toBe(
    'staging a 1.2 of 3.0 GB, b 1.0 of 3.0 GB',
  );
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => at(name, 3 - index / 2));
  expect(progressText(many)).toBe(
    'staging f 0.5 of 3.0 GB, e 1.0 of 3.0 GB, d 1.5 of 3.0 GB, c 2.0 of 3.0 GB, and 2 more',
  );
});

// Whose fault it is where nodes do not reach one another.
import { expect, it } from 'vitest';
import { judgeWays, type BadWay, type Heard } from '../../../../src/core/check/reachability.js';

const nodes = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index + 1}`);
const lost: Heard = { problem: 'unreached', said: 'No route to host' };
const both = (a: string, b: string, heard = lost): BadWay[] => [
  { from: a, to: b, heard },
  { from: b, to: a, heard },
];
const openPorts = (host: string): string => `open ${host}`;

function bad(names: readonly string[], ways: readonly BadWay[]): Record<string, string> {
  const results = judgeWays(names, ways, openPorts);
  expect(results.map(({ host }) => host)).toEqual(names);
  return Object.fromEntries(
    results.flatMap(({ host = '', ok, detail, hint }) =>
      ok ? [] : [[host, `${detail} / ${typeof hint === 'string' ? hint : hint.kind}`]],
    ),
  );
}

it('all is well: how many others each reaches', () => {
  const details = (count: number): string[] =>
    judgeWays(nodes(count), [], openPorts).map(({ ok, detail }) => `${String(ok)} ${detail}`);
  expect(details(3)).toEqual(Array<string>(3).fill('true reaches all 2 others'));
  expect(details(2)[0]).toBe('true reaches the other node');
});

it('a pair without a way names both, and no other', () => {
  expect(bad(nodes(4), both('n2', 'n3'))).toEqual({
    n2: 'does not reach n3: No route to host / open n3',
    n3: 'does not reach n2: No route to host / open n2',
  });
  expect(bad(nodes(2), both('n1', 'n2'))).toHaveProperty('n1');
});

it('a closed port names who is not let in, by the node that tried', () => {
  expect(bad(nodes(2), [{ from: 'n2', to: 'n1', heard: lost }])).toEqual({
    n2: 'does not reach n1: No route to host / open n1',
  });
});

it('a node cut off from all others is named alone, with both directions', () => {
  const ways = nodes(32).flatMap((other) => (other === 'n7' ? [] : both('n7', other)));
  expect(bad(nodes(32), ways)).toEqual({
    n7:
      'does not reach n1, n2 and 29 more: No route to host; ' +
      'n1, n2 and 29 more do not reach it: No route to host / open n7',
  });
});

it('a firewall of one node that only lets nobody in is told as that', () => {
  const ways = ['n1', 'n2', 'n4'].map((from) => ({ from, to: 'n3', heard: lost }));
  expect(bad(nodes(4), ways)).toEqual({ n3: 'n1, n2, n4 do not reach it: No route to host / open n3' });
});

it('two nodes cut off and a pair beside them are each told once', () => {
  const names = nodes(12);
  const cut = ['n2', 'n9'].flatMap((node) =>
    names.flatMap((other) => (other === node ? [] : [{ from: node, to: other, heard: lost }])),
  );
  const found = bad(names, [...cut, ...both('n4', 'n5')]);
  expect(Object.keys(found)).toEqual(['n2', 'n4', 'n5', 'n9']);
  expect(found['n4']).toBe('does not reach n5: No route to host / open n5');
});

it('two halves that do not see one another blame nobody alone', () => {
  const ways = ['n1', 'n2'].flatMap((a) => ['n3', 'n4'].flatMap((b) => both(a, b)));
  expect(Object.keys(bad(nodes(4), ways))).toEqual(nodes(4));
});

it('lost full-size packets are told with their direction and an MTU, not with ports', () => {
  const found = bad(nodes(3), [
    { from: 'n1', to: 'n2', heard: { problem: 'full-there', said: null } },
    { from: 'n2', to: 'n1', heard: { problem: 'full-back', said: null } },
  ]);
  expect(found['n1']).toMatch(
    /^small packets pass, and full-size packets to n2 are lost \/ Give all .* one MTU/,
  );
  expect(found['n2']).toMatch(/^small packets pass, and full-size packets from n1 are lost/);
});

it('another program at the address is told', () => {
  const heard: Heard = { problem: 'stranger', said: null };
  expect(bad(nodes(3), [{ from: 'n1', to: 'n2', heard }])).toEqual({
    n1: 'another machine or program answers at the address of n2 / open n2',
  });
});

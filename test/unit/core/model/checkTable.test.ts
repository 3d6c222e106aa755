// Results of a check as rows with a column for each node.
import { expect, it } from 'vitest';
import { bad, good, warned, type CheckResult } from '../../../../src/core/base/checks.js';
import { checkTable } from '../../../../src/core/model/checkTable.js';

const at = (host: string, result: CheckResult): CheckResult => ({ ...result, host });

it('has a row for each check and a column for each node, what failed first', () => {
  const table = checkTable(
    [
      at('gpu1', good('glibc', '2.36')),
      at('gpu2', good('glibc', '2.36')),
      at('gpu2', bad('disk', '0.1 GB free', { kind: 'moreSpace', host: 'gpu2' })),
      at('gpu3', bad('connection', 'gpu3 did not answer', 'Check the address')),
      bad('slots', 'there is no room', ''),
    ],
    ['gpu1', 'gpu2', 'gpu3'],
  );
  expect(table.rows.map(({ name, ok }) => [name, ok])).toEqual([
    ['disk', false],
    ['connection', false],
    ['slots', false],
    ['glibc', true],
  ]);
  const disk = table.rows[0];
  expect(disk?.cells.map((cell) => cell?.ok)).toEqual([undefined, false, undefined]);
  expect(disk?.cells[1]?.hint).toEqual({ kind: 'moreSpace', host: 'gpu2' });
  expect(table.rows[2]).toMatchObject({ whole: { ok: false, detail: 'there is no room' } });
  expect(table).toMatchObject({ checks: 5, failed: 3, badNodes: ['gpu2', 'gpu3'] });
});

it('marks what differs from most nodes, and nothing where no value is usual', () => {
  const nodes = ['a', 'b', 'c', 'd'];
  const row = (...details: string[]): (boolean | undefined)[] =>
    checkTable(
      details.map((detail, index) => at(nodes[index] ?? '', good('x', detail))),
      nodes,
    ).rows[0]?.cells.map((cell) => cell?.differs) ?? [];
  expect(row('2.36', '2.31', '2.36', '2.36')).toEqual([false, true, false, false]);
  expect(row('1 GB', '2 GB', '3 GB', '4 GB')).toEqual([false, false, false, false]);
  expect(row('1', '1', '2', '2')).toEqual([false, false, false, false]);
  expect(row('1', '1', '2')).toEqual([false, false, true, undefined]);
});

it('puts what names no node into the one column of a single node', () => {
  const table = checkTable([good('agent', 'version 1'), bad('disk', 'full', 'Free some space')], ['here']);
  expect(table.rows.map(({ name, cells, whole }) => [name, cells[0]?.detail, whole])).toEqual([
    ['disk', 'full', undefined],
    ['agent', 'version 1', undefined],
  ]);
  expect(table.badNodes).toEqual(['here']);
});

it('tells several results of one check at one node in one cell, the bad ones', () => {
  const results = [
    at('a', good('ports', 'reached')),
    at('a', bad('ports', '47000 is taken', 'Free it')),
    at('a', bad('ports', '47001 is taken', 'Free that')),
  ];
  expect(checkTable(results, ['a', 'b']).rows[0]?.cells).toEqual([
    {
      ...{ ok: false, detail: '47000 is taken, 47001 is taken', hint: 'Free it' },
      ...{ differs: false, warning: false, amount: undefined },
    },
    undefined,
  ]);
});

it('puts warnings behind what failed, with their remedy, and marks no figure as different', () => {
  const table = checkTable(
    [
      at('a', good('OS', 'Debian 12')),
      at('a', { ...good('disk', '9 GB'), amount: 9 }),
      at('b', { ...good('disk', '9 GB'), amount: 9 }),
      at('c', { ...good('disk', '7 GB'), amount: 7 }),
      at('a', good('clock', 'with most nodes')),
      at('b', warned('clock', '7 s ahead', 'Set it')),
      at('a', bad('ports', 'no way', 'Open it')),
    ],
    ['a', 'b', 'c'],
  );
  expect(table.rows.map(({ name, ok }) => [name, ok])).toEqual([
    ['ports', false],
    ['clock', true],
    ['OS', true],
    ['disk', true],
  ]);
  expect(table).toMatchObject({ failed: 1, warned: 1, badNodes: ['a'] });
  expect(table.rows[1]?.cells[1]).toMatchObject({ ok: true, warning: true, hint: 'Set it', differs: false });
  expect(table.rows[3]?.cells.map((cell) => cell?.differs)).toEqual([false, false, false]);
});

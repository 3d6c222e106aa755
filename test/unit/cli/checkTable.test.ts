// What `trainyard check` prints, by the width of the terminal.
import { expect, it } from 'vitest';
import { checkLines } from '../../../src/cli/checkTable.js';
import { bad, good, warned, type CheckResult } from '../../../src/core/base/checks.js';
import { checkTable } from '../../../src/core/model/checkTable.js';

const nodes = (count: number): string[] => Array.from({ length: count }, (_, index) => `gpu${index + 1}`);

/** Of so many nodes; the second has no room, the last has an older glibc. */
function results(count: number): CheckResult[] {
  const names = nodes(count);
  return names.flatMap((host, index) => [
    { ...good('glibc', index === count - 1 ? '2.31' : '2.36'), host },
    index === 1
      ? { ...bad('disk', '0.1 GB free in /w', { kind: 'moreSpace', host }), host }
      : { ...good('disk', '9.0 GB free in /w'), host },
  ]);
}
const lines = (count: number, width: number): string[] =>
  checkLines(checkTable(results(count), nodes(count)), width);
const failed = expect.stringMatching(/^FAILED disk, gpu2: 0\.1 GB free in \/w\. Free some space/) as string;

it('one node: a line for each check, what failed first', () => {
  const table = checkTable([good('agent', 'version 1'), bad('disk', 'full', 'Free some space')], ['here']);
  expect(checkLines(table, 80)).toEqual([
    'CHECK  STATE   DETAIL',
    'disk   FAILED  full. Free some space.',
    'agent  ok      version 1',
  ]);
});

it('nodes are columns with what was seen where that fits', () => {
  expect(lines(3, 100)).toEqual([
    'CHECK  gpu1                   gpu2      gpu3',
    'disk   ok: 9.0 GB free in /w  FAILED    ok: 9.0 GB free in /w',
    'glibc  ok: 2.36               ok: 2.36  ok, differs: 2.31',
    failed,
  ]);
});

it('nodes are columns with their states where no more fits, and what differs stands below', () => {
  expect(lines(3, 50)).toEqual([
    'CHECK  gpu1  gpu2    gpu3',
    'disk   ok    FAILED  ok',
    'glibc  ok    ok      ok, differs',
    failed,
    'differs glibc, gpu3: 2.31',
  ]);
});

it('many nodes that are alike share a column', () => {
  expect(lines(16, 80)).toEqual([
    'CHECK  gpu1, gpu3-gpu15       gpu2      gpu16',
    'disk   ok: 9.0 GB free in /w  FAILED    ok: 9.0 GB free in /w',
    'glibc  ok: 2.36               ok: 2.36  ok, differs: 2.31',
    failed,
  ]);
  expect(lines(16, 48)).toEqual([
    'CHECK  gpu1, gpu3-gpu15  gpu2    gpu16',
    'disk   ok                FAILED  ok',
    'glibc  ok                ok      ok, differs',
    failed,
    'differs glibc, gpu16: 2.31',
  ]);
});

it('groups are rows where the terminal is narrow, with the checks in which they are not alike', () => {
  const all = [...results(16), ...nodes(16).map((host) => ({ ...good('OS', 'Debian 12'), host }))];
  expect(checkLines(checkTable(all, nodes(16)), 40)).toEqual([
    'NODE              disk    glibc',
    'gpu1, gpu3-gpu15  ok      ok',
    'gpu2              FAILED  ok',
    'gpu16             ok      ok, differs',
    '1 other check is ok on all nodes',
    failed,
    'differs glibc, gpu16: 2.31',
  ]);
});

it('a warning has its remedy below the table, and figures that differ everywhere part no group', () => {
  const all: CheckResult[] = nodes(4).flatMap((host, index) => [
    { ...good('disk', `${9 + index}.0 GB free`), amount: 9 + index, host },
    { ...(index === 3 ? warned('clock', '7.0 s behind', 'Set it') : good('clock', 'with most')), host },
  ]);
  expect(checkLines(checkTable(all, nodes(4)), 70)).toEqual([
    'CHECK  gpu1-gpu3                        gpu4',
    'clock  ok: with most                    WARNS',
    'disk   ok: 9.0 GB free to 11.0 GB free  ok: 12.0 GB free',
    'WARNS clock, gpu4: 7.0 s behind. Set it.',
  ]);
});

it('what each node says in another way, such as a path, parts no group', () => {
  const all = nodes(4).flatMap((host) => [{ ...good('workdir', `/home/${host}`), host }]);
  expect(checkLines(checkTable(all, nodes(4)), 50)).toEqual([
    'CHECK    gpu1-gpu4',
    'workdir  ok: /home/gpu1, and 3 others',
  ]);
});

it('a node that was not looked at further has a dash, and nodes that say the same share a line', () => {
  const down = (host: string): CheckResult => ({ ...bad('connection', 'it refused the key', 'Try'), host });
  const table = checkTable([{ ...good('glibc', '2.36'), host: 'a' }, down('b'), down('c')], ['a', 'b', 'c']);
  expect(checkLines(table, 80)).toEqual([
    'CHECK       a         b       c',
    'connection  -         FAILED  FAILED',
    'glibc       ok: 2.36  -       -',
    'FAILED connection, b, c: it refused the key. Try.',
  ]);
});

it('what is said of all nodes together stands under each', () => {
  const table = checkTable(
    [{ ...good('x', '1'), host: 'a' }, bad('slots', 'there is no room', '')],
    ['a', 'b'],
  );
  expect(checkLines(table, 80)).toEqual([
    'CHECK  a       b',
    'slots  FAILED  FAILED',
    'x      ok: 1   -',
    'FAILED slots, all nodes: there is no room',
  ]);
});

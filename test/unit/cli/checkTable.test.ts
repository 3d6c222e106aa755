// What `trainyard check` prints, by the width of the terminal.
import { expect, it } from 'vitest';
import { checkLines } from '../../../src/cli/checkTable.js';
import { bad, good, type CheckResult } from '../../../src/core/base/checks.js';
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

it('many nodes are rows', () => {
  const text = lines(16, 80);
  expect(text.slice(0, 3)).toEqual(['NODE   disk    glibc', 'gpu1   ok      ok', 'gpu2   FAILED  ok']);
  expect(text[16]).toBe('gpu16  ok      ok, differs');
  expect(text.slice(17)).toEqual([failed, 'differs glibc, gpu16: 2.31']);
  expect(text.slice(0, 17).every((line) => line.length <= 80)).toBe(true);
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

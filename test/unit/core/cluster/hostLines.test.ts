// Lines of hosts: cut where they are too long, and never kept without end.
import { describe, expect, test } from 'vitest';
import {
  LineCutter,
  lineLimit,
  lineText,
  Transcripts,
} from '../../../../src/core/cluster/nodes/hostLines.js';

function cut(limit: number, chunks: readonly (string | Buffer)[]): (string | [string, number])[] {
  const lines: (string | [string, number])[] = [];
  const cutter = new LineCutter(limit, ({ text, cut: bytes }) => {
    lines.push(bytes === 0 ? text : [text, bytes]);
  });
  for (const chunk of chunks) cutter.push(Buffer.from(chunk as string));
  cutter.end();
  return lines;
}

describe('lines', () => {
  test.each<[string[], (string | [string, number])[]]>([
    [
      ['a\nb', 'c\r\n', '\nlast'],
      ['a', 'bc', '', 'last'],
    ],
    [
      ['a\r', '\nb\rc\n'],
      ['a', 'b\rc'],
    ],
    [
      ['12345678\n123456789\n', '1234', '56789'],
      ['12345678', ['12345678', 1], ['12345678', 1]],
    ],
    [[], []],
  ])('%j', (chunks, lines) => {
    expect(cut(8, chunks)).toEqual(lines);
  });

  test('a character that comes in two chunks is one, and one that is cut is left out', () => {
    const bytes = Buffer.from('aé日\n');
    expect(cut(100, [bytes.subarray(0, 2), bytes.subarray(2, 5), bytes.subarray(5)])).toEqual(['aé日']);
    expect(cut(4, [bytes])).toEqual([['aé', 2]]);
  });

  test('say what is left out', () => {
    expect(lineText({ text: 'ab', cut: 7 })).toBe('ab … (7 more bytes of this line are left out)');
    expect(lineText({ text: 'ab', cut: 0 })).toBe('ab');
  });

  test('of many hosts are shorter, so that all together stay within 16 MiB', () => {
    expect([lineLimit(2), lineLimit(256), lineLimit(2000)]).toEqual([65_536, 65_536, 8388]);
  });
});

test('of each host the first lines are kept, and the rest is counted', () => {
  const transcripts = new Transcripts(['a', 'b'], 20);
  for (const text of ['1234', '56', '7890', '1']) {
    transcripts.add({ host: 'a', stream: 'stdout', text, cut: 0 });
  }
  transcripts.add({ host: 'b', stream: 'stderr', text: 'all', cut: 0 });
  expect(transcripts.of('a')).toEqual(['1234', '56', '… (2 more lines are left out)']);
  expect(transcripts.of('b')).toEqual(['all']);
});

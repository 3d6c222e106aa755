import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteTail, type TailLine } from '../../../../src/core/streams/tail.js';

const lines = fc.array(
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\n', ' ')),
  { maxLength: 20 },
);

/** Lines with their offsets, found without the code under test. */
function expected(bytes: Buffer): TailLine[] {
  const found: TailLine[] = [];
  let start = 0;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] !== 10) continue;
    found.push({ offset: start, text: bytes.toString('utf8', start, index) });
    start = index + 1;
  }
  return found;
}

describe('ByteTail', () => {
  it('gives every line once with its offset, wherever pieces are cut and however they overlap', () => {
    const piece = fc.record({ back: fc.nat(30), size: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(lines, fc.string(), fc.array(piece, { minLength: 1 }), (texts, rest, pieces) => {
        const bytes = Buffer.from([...texts.map((text) => `${text}\n`), rest.replaceAll('\n', '')].join(''));
        const tail = new ByteTail();
        const seen: TailLine[] = [];
        for (let turn = 0; tail.received < bytes.length; turn++) {
          const { back, size } = pieces[turn % pieces.length] ?? { back: 0, size: 1 };
          const from = Math.max(0, tail.received - back);
          seen.push(...(tail.push(from, bytes.subarray(from, tail.received + size)) ?? []));
        }
        expect(seen).toEqual(expected(bytes));
      }),
    );
  });

  it('goes on from an offset, as after a new attachment', () => {
    fc.assert(
      fc.property(lines, fc.nat(), (texts, place) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const all = expected(bytes);
        const start = all[place % (all.length || 1)]?.offset ?? 0;
        const tail = new ByteTail(start);
        expect(tail.push(start, bytes.subarray(start))).toEqual(all.filter(({ offset }) => offset >= start));
      }),
    );
  });

  it('says that bytes are missing, and takes nothing then', () => {
    const tail = new ByteTail();
    expect(tail.push(0, Buffer.from('a\nb'))).toEqual([{ offset: 0, text: 'a' }]);
    expect(tail.push(5, Buffer.from('x\n'))).toBeUndefined();
    expect(tail.received).toBe(3);
    expect(tail.push(3, Buffer.from('c\n'))).toEqual([{ offset: 2, text: 'bc' }]);
  });

  it('passes over what was seen, also when all of it was', () => {
    const tail = new ByteTail();
    tail.push(0, Buffer.from('one\ntwo\n'));
    expect(tail.push(0, Buffer.from('one\n'))).toEqual([]);
    expect(tail.received).toBe(8);
  });

  it('starts over after a reset', () => {
    const tail = new ByteTail();
    tail.push(0, Buffer.from('old\nhal'));
    tail.restart();
    expect(tail.push(0, Buffer.from('new\n'))).toEqual([{ offset: 0, text: 'new' }]);
  });

  it('drops a line without end instead of filling the memory, and goes on after it', () => {
    const tail = new ByteTail();
    const piece = Buffer.alloc(3 * 1024 * 1024, 120);
    for (let turn = 0; turn < 4; turn++) expect(tail.push(turn * piece.length, piece)).toEqual([]);
    const at = tail.received;
    expect(tail.push(at, Buffer.from('\nok\n'))).toEqual([{ offset: at + 1, text: 'ok' }]);
  });
});

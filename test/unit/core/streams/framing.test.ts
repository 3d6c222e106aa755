import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineFramer, NonceGate } from '../../../../src/core/streams/framing.js';

/** `bytes` cut at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe('LineFramer', () => {
  it('gives the same lines wherever the bytes are split', () => {
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(line), fc.string(), fc.array(fc.nat()), (lines, rest, places) => {
        const bytes = Buffer.from([...lines.map((text) => `${text}\n`), rest.replaceAll('\n', '')].join(''));
        const framer = new LineFramer(10_000);
        const seen = cut(bytes, places).flatMap((part) => framer.push(part).map(String));
        expect(seen).toEqual(lines.map((text) => Buffer.from(text).toString()));
      }),
    );
  });

  it('takes one byte at a time', () => {
    const framer = new LineFramer(100);
    const seen = [...Buffer.from('{"a":"é"}\n\nx\n')].flatMap((byte) =>
      framer.push(Buffer.of(byte)).map(String),
    );
    expect(seen).toEqual(['{"a":"é"}', '', 'x']);
  });

  it('refuses a line over the limit, finished or not', () => {
    expect(() => new LineFramer(4).push(Buffer.from('12345\n'))).toThrow(RangeError);
    const framer = new LineFramer(4);
    expect(framer.push(Buffer.from('123'))).toEqual([]);
    expect(() => framer.push(Buffer.from('45'))).toThrow(RangeError);
    expect(new LineFramer(4).push(Buffer.from('1234\n')).map(String)).toEqual(['1234']);
  });
});

describe('NonceGate', () => {
  const nonce = '0123456789abcdef0123456789abcdef';

  it('opens at the nonce line wherever the bytes are split, whatever came before', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 900 }),
        fc.uint8Array({ maxLength: 50 }),
        fc.array(fc.nat()),
        (noise, rest, places) => {
          const bytes = Buffer.concat([noise, Buffer.from(`trainyard-agent ${nonce}\n`), rest]);
          const gate = new NonceGate(nonce, 10_000);
          let opened: Buffer[] | undefined;
          for (const part of cut(bytes, places)) {
            if (opened) opened.push(part);
            else {
              const after = gate.push(part);
              if (after) opened = [after];
            }
          }
          expect(Buffer.concat(opened ?? [])).toEqual(Buffer.from(rest));
        },
      ),
    );
  });

  it('is not opened by another nonce', () => {
    const gate = new NonceGate(nonce, 10_000);
    expect(gate.push(Buffer.from(`trainyard-agent ${'f'.repeat(32)}\n`))).toBeUndefined();
    expect(gate.noise).toContain('ffff');
  });

  it('gives up when the noise does not end', () => {
    const gate = new NonceGate(nonce, 2000);
    expect(gate.push(Buffer.alloc(1500, 120))).toBeUndefined();
    expect(() => gate.push(Buffer.alloc(1500, 120))).toThrow(RangeError);
  });
});

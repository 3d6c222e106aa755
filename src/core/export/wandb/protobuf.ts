// Protocol Buffers on the wire, as far as records of W&B need it: whole numbers, texts and messages.
// https://protobuf.dev/programming-guides/encoding/

const varint = 0;
const fixed64 = 1;
const delimited = 2;
const fixed32 = 5;

/** A message that is built. Fields that hold their default are left out, as proto3 asks. */
export class Message {
  private readonly parts: Buffer[] = [];

  /** A whole number that is not negative. */
  whole(field: number, value: number): this {
    if (value !== 0) this.parts.push(varintOf(field * 8 + varint), varintOf(value));
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.whole(field, value ? 1 : 0);
  }

  text(field: number, value: string): this {
    return value === '' ? this : this.bytes(field, Buffer.from(value));
  }

  /** Also an empty message, which says that it is there. */
  message(field: number, value: Message): this {
    return this.bytes(field, value.encoded());
  }

  /** Each field of a repeated one. */
  bytes(field: number, value: Buffer): this {
    this.parts.push(varintOf(field * 8 + delimited), varintOf(value.length), value);
    return this;
  }

  encoded(): Buffer {
    return Buffer.concat(this.parts);
  }
}

function varintOf(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  bytes.push(left);
  return Buffer.from(bytes);
}

/** One field of a message that was read: `bytes` of texts and messages, `whole` of numbers. */
export interface Field {
  field: number;
  whole: number;
  bytes: Buffer;
}

const nothing = Buffer.alloc(0);

/** The fields in their order; undefined for bytes that are no message. */
export function fieldsOf(message: Buffer): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let factor = 1; at < message.length; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
    at = Infinity; // cut off in the middle
    return 0;
  };
  while (at < message.length) {
    const tag = next();
    const field = Math.floor(tag / 8);
    const kind = tag % 8;
    if (kind === varint) {
      fields.push({ field, whole: next(), bytes: nothing });
      continue;
    }
    const length = kind === delimited ? next() : kind === fixed64 ? 8 : kind === fixed32 ? 4 : NaN;
    const bytes = message.subarray(at, at + length);
    if (bytes.length !== length) return undefined;
    fields.push({ field, whole: 0, bytes });
    at += length;
  }
  return at === message.length ? fields : undefined;
}

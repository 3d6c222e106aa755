// The frame of a .wandb file: the log format of LevelDB with a header of its own, and with plain
// CRC-32 in place of CRC-32C.
// https://github.com/google/leveldb/blob/main/doc/log_format.md
// https://github.com/wandb/wandb/blob/main/core/pkg/leveldb/record.go
import { crc32 } from 'node:zlib';

const blockBytes = 32_768;
const headBytes = 7;
const whole = 1;
const first = 2;
const middle = 3;
const last = 4;

/** How every .wandb file begins: its name, a magic number and the version of the format, 0. */
export const fileStart = Buffer.from([...Buffer.from(':W&B'), 0xe1, 0xbe, 0]);

/** The bytes of a record that is written at `offset` of a file. */
export function framed(record: Buffer, offset: number): Buffer {
  const parts: Buffer[] = [];
  let at = offset;
  const put = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  let begins = true;
  for (let from = 0; begins || from < record.length;) {
    const left = blockBytes - (at % blockBytes);
    if (left < headBytes) {
      put(Buffer.alloc(left));
      continue;
    }
    const part = record.subarray(from, from + left - headBytes);
    from += part.length;
    const ends = from === record.length;
    const type = begins ? (ends ? whole : first) : ends ? last : middle;
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(checksum(type, part), 0);
    head.writeUInt16LE(part.length, 4);
    head.writeUInt8(type, 6);
    put(head);
    put(part);
    begins = false;
  }
  return Buffer.concat(parts);
}

/** Of a file; `end` is the byte after it. */
export interface FramedRecord {
  data: Buffer;
  end: number;
}

/**
 * The whole records of a file up to the first that is cut off or damaged; undefined for another kind
 * of file.
 */
export function recordsOf(file: Buffer): FramedRecord[] | undefined {
  if (!file.subarray(0, fileStart.length).equals(fileStart)) return undefined;
  const records: FramedRecord[] = [];
  let parts: Buffer[] = [];
  for (let at = fileStart.length; ;) {
    const left = blockBytes - (at % blockBytes);
    if (left < headBytes) at += left;
    if (at + headBytes > file.length) return records;
    const length = file.readUInt16LE(at + 4);
    const type = file.readUInt8(at + 6);
    const part = file.subarray(at + headBytes, at + headBytes + length);
    if (part.length < length || file.readUInt32LE(at) !== checksum(type, part)) return records;
    const begins = type === whole || type === first;
    if (begins !== (parts.length === 0)) return records;
    parts.push(part);
    at += headBytes + length;
    if (type === whole || type === last) {
      records.push({ data: Buffer.concat(parts), end: at });
      parts = [];
    }
  }
}

const checksum = (type: number, part: Buffer): number => crc32(part, crc32(Buffer.from([type])));

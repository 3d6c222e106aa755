// The frames of many connections on one channel (docs/contracts/cluster.md): the other
// side of native/node/forward.py.

const frameKinds = { open: 1, opened: 2, data: 3, end: 4, credit: 5, closed: 6 } as const;
/** What a frame says; docs/contracts/cluster.md has the numbers. */
export type FrameKind = keyof typeof frameKinds;

/** Bytes of one connection that may be under way in each direction. */
export const frameWindow = 1 << 20;
/** Bytes that one frame of data has at most. */
export const framePiece = 1 << 16;

/** Bytes of a frame's head. */
const headLength = 9;
/** Bytes of data above which a frame is refused. */
const longest = 1 << 20;

/** One frame of a channel, whole. */
export interface Frame {
  kind: FrameKind;
  /** Of the connection. */
  number: number;
  data: Buffer;
}

/** A frame as it is sent: kind (1 byte), number and length of the data (4 bytes each), data. */
export function frameBytes(kind: FrameKind, number: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(frameKinds[kind], 0);
  head.writeUInt32BE(number, 1);
  head.writeUInt32BE(data.length, 5);
  return Buffer.concat([head, data]);
}

/** The data of a credit frame: `count` bytes more may be sent. */
export function creditBytes(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return bytes;
}

/** Cuts the bytes of a channel into frames. */
export class FrameReader {
  private held: Buffer[] = [];
  private length = 0;

  /** The frames that `chunk` completes. RangeError for what is no frame. */
  push(chunk: Buffer): Frame[] {
    this.held.push(chunk);
    this.length += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      const size = this.nextSize();
      if (size === undefined || this.length < size) return frames;
      const bytes = this.joined();
      frames.push({
        kind: kindOf(bytes.readUInt8(0)),
        number: bytes.readUInt32BE(1),
        data: bytes.subarray(headLength, size),
      });
      this.held = [bytes.subarray(size)];
      this.length -= size;
    }
  }

  /** Bytes of the frame that comes next, head included. */
  private nextSize(): number | undefined {
    if (this.length < headLength) return undefined;
    if ((this.held[0]?.length ?? 0) < headLength) this.held = [this.joined()];
    const length = this.held[0]?.readUInt32BE(5) ?? 0;
    if (length > longest) throw new RangeError(`a frame of ${length} bytes`);
    return headLength + length;
  }

  private joined(): Buffer {
    return this.held.length === 1 ? (this.held[0] ?? Buffer.alloc(0)) : Buffer.concat(this.held);
  }
}

function kindOf(code: number): FrameKind {
  for (const [name, value] of Object.entries(frameKinds)) if (value === code) return name as FrameKind;
  throw new RangeError(`a frame of the unknown kind ${code}`);
}

// What a tar archive brings, as one SHA-256: by it a node that gets the files from another node
// tells that they are what this machine sent. native/node/copies.py makes the same of what it
// receives, whoever packed it.
import { createHash } from 'node:crypto';
import { normalize } from 'node:path/posix';

const block = 512;
/** Of an extended header, as in native/node/archive.py. */
const mostExtended = 1 << 20;

/** Bytes that belong to the member before them. */
type Part = 'extended' | 'content' | 'padding';

/**
 * Takes the archive in any pieces. Of each member counts kind, permissions, size, name below the
 * archive's root, and bytes, in the archive's order.
 */
export class TarDigest {
  private readonly hash = createHash('sha256');
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  private part: Part | 'header' | 'end' = 'header';
  private left = block;
  private padding = 0;
  /** Of the extended header that is being read. */
  private kind = '';
  private given: { name?: string; size?: number } = {};

  /** `as`: the name that the one file there is gets on the node. */
  constructor(private readonly as?: string) {}

  update(piece: Buffer): void {
    for (let at = 0; at < piece.length && this.part !== 'end';) {
      const taken = piece.subarray(at, at + this.left);
      at += taken.length;
      this.left -= taken.length;
      if (this.part === 'content') this.hash.update(taken);
      else if (this.part !== 'padding') this.keep(taken);
      if (this.left === 0) this.ended();
    }
  }

  /** In hex; the archive must have come to its end. RangeError where it has not. */
  digest(): string {
    if (this.part !== 'end') throw new RangeError('the archive has no end');
    return this.hash.digest('hex');
  }

  private keep(taken: Buffer): void {
    this.keptBytes += taken.length;
    if (this.keptBytes > mostExtended) throw new RangeError('an extended header is too long');
    this.kept.push(Buffer.from(taken)); // the piece itself is used again
  }

  private takeKept(): Buffer {
    const all = Buffer.concat(this.kept);
    this.kept.length = 0;
    this.keptBytes = 0;
    return all;
  }

  private ended(): void {
    if (this.part === 'header') this.takeHeader(this.takeKept());
    else if (this.part === 'extended') this.extend(this.takeKept());
    else if (this.part === 'content') this.next('padding', this.padding);
    else this.next('header', block);
  }

  private next(part: Part | 'header', bytes: number): void {
    this.part = part;
    this.left = bytes;
    if (bytes === 0) this.ended();
  }

  private takeHeader(header: Buffer): void {
    if (header.every((byte) => byte === 0)) {
      this.part = 'end';
      return;
    }
    const kind = String.fromCharCode(header[156] ?? 0);
    const size = numberOf(header.subarray(124, 136));
    if ('xgLK'.includes(kind)) {
      this.kind = kind;
      this.padding = -size & (block - 1);
      this.next('extended', size);
      return;
    }
    const bytes = this.given.size ?? size;
    this.count(kind, numberOf(header.subarray(100, 108)) & 0o777, bytes, this.given.name ?? nameOf(header));
    this.given = {};
    this.padding = (block - (bytes % block)) % block;
    this.next('content', bytes);
  }

  /** Names are kept as Latin-1, one letter for each byte. */
  private count(kind: string, mode: number, size: number, name: string): void {
    const isFolder = kind === '5';
    const below = normalize(name).replace(/(.)\/$/, '$1');
    const shown = this.as !== undefined && !isFolder ? Buffer.from(this.as).toString('latin1') : below;
    const start = isFolder ? 'D 0 0' : `F ${mode.toString(8)} ${size}`;
    this.hash.update(Buffer.from(`${start} ${shown.length}\n${shown}`, 'latin1'));
  }

  private extend(data: Buffer): void {
    if (this.kind === 'L') this.given.name = textOf(data);
    if (this.kind === 'x') {
      for (const [key, value] of records(data)) {
        if (key === 'path') this.given.name = value;
        else if (key === 'size') this.given.size = Number(value);
      }
    }
    this.next('padding', this.padding);
  }
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? field.length : end).toString('latin1');
}

/** Octal digits, or where these are too few, the number itself. */
function numberOf(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) === 0) return Number.parseInt(textOf(field).trim() || '0', 8);
  return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
}

function nameOf(header: Buffer): string {
  const name = textOf(header.subarray(0, 100));
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textOf(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Of an extended header: `LENGTH KEY=VALUE` and a line break each; the length counts all of it. */
function records(data: Buffer): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at < data.length;) {
    const space = data.indexOf(32, at);
    const length = Number(data.toString('latin1', at, space));
    if (!Number.isSafeInteger(length) || length <= 0) throw new RangeError('a record of no length');
    const [key = '', ...value] = data.toString('latin1', space + 1, at + length - 1).split('=');
    found.push([key, value.join('=')]);
    at += length;
  }
  return found;
}

// What ssh2 keeps of what it receives. With AES-GCM it decrypts each packet into memory made for
// that packet, and hands the packet's data on. So ssh2 keeps nothing of what came from the socket,
// and the data are their reader's alone. A packet that comes in two chunks takes twice the memory,
// and a copy more.
import type { Client } from 'ssh2';
import { isPart, protocolOf, type Part } from './protocolParts.js';

/** Bytes of the length before a packet (RFC 4253, section 6), and of the tag after it (RFC 5647). */
const lengthBytes = 4;
const tagBytes = 16;
/** The longest packet that ssh2 takes. */
const longest = 35_000;

/** The part of ssh2 that decrypts by AES-GCM, and what it has of the packet that is coming in. */
interface PacketDecipher {
  /** Bytes of the length that came. */
  _lenBytes: number;
  /** The length, and how many bytes of as many came. */
  _len: number;
  _pktLen: number;
  /** Bytes of the tag that came. */
  _tagPos: number;
}

export class Receiving {
  private known: unknown;
  private decipher: PacketDecipher | undefined;

  private constructor(private readonly protocol: Part) {}

  /** Undefined where ssh2 is not as expected. */
  static of(client: Client): Receiving | undefined {
    const protocol = protocolOf(client);
    return protocol !== undefined && isPart(protocol['_decipher']) ? new Receiving(protocol) : undefined;
  }

  /** Whether what arrives now is decrypted into memory of its own. New keys may change that. */
  get isCopying(): boolean {
    return this.current() !== undefined;
  }

  /**
   * How many bytes of `read`, which is next, end with a packet. All of them where no packet ends in
   * `read`, or where that cannot be known.
   */
  wholePackets(read: Buffer): number {
    const decipher = this.current();
    if (decipher === undefined) return read.length;
    const { _lenBytes: begun, _len: length, _pktLen: came, _tagPos: ofTag } = decipher;
    if (begun !== 0 && begun !== lengthBytes) return read.length;
    let end = begun === 0 ? 0 : length - came + tagBytes - ofTag;
    while (end + lengthBytes <= read.length) {
      const next = read.readUInt32BE(end);
      if (next > longest) return read.length; // ssh2 says what is wrong
      const after = end + lengthBytes + next + tagBytes;
      if (after > read.length) break;
      end = after;
    }
    return end === 0 || end > read.length ? read.length : end;
  }

  private current(): PacketDecipher | undefined {
    const decipher = this.protocol['_decipher'];
    if (decipher !== this.known) {
      this.known = decipher;
      this.decipher = isPart(decipher) && isGcm(decipher) ? decipher : undefined;
    }
    return this.decipher;
  }
}

/** As ssh2 1.17 has it without native parts. */
const isGcm = (decipher: Part): decipher is Part & PacketDecipher =>
  typeof decipher['_decipherSSLName'] === 'string' &&
  /^aes-\d+-gcm$/.test(decipher['_decipherSSLName']) &&
  ['_lenBytes', '_len', '_pktLen', '_tagPos'].every((name) => typeof decipher[name] === 'number');

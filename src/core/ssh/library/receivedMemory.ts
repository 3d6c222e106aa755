// What ssh2 keeps of what it receives. With AES-GCM it decrypts each packet into memory made for
// that packet, and hands the packet's data on. So ssh2 keeps nothing of what came from the socket,
// and the data are their reader's alone. A packet that comes in two chunks takes twice the memory,
// and a copy more.
import type { Client } from 'ssh2';
import { gcmDecipher, innerParts, type DecryptingProtocol, type PacketDecipher } from './innerParts.js';

/**
 * Bytes of the length before a packet (RFC 4253, section 6), and of the tag after it (RFC 5647).
 */
const lengthBytes = 4;
const tagBytes = 16;
/** The longest packet that ssh2 takes. */
const longest = 35_000;

/** Where the packets end in what one connection receives, and whether ssh2 keeps what it reads. */
export class Receiving {
  private known: unknown;
  private decipher: PacketDecipher | undefined;

  private constructor(private readonly protocol: DecryptingProtocol) {}

  /** Undefined where ssh2 is not as expected. */
  static of(client: Client): Receiving | undefined {
    const protocol = innerParts.deciphers.find(client);
    return protocol === undefined ? undefined : new Receiving(protocol);
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
    const decipher = this.protocol._decipher;
    if (decipher !== this.known) {
      this.known = decipher;
      this.decipher = gcmDecipher(decipher);
    }
    return this.decipher;
  }
}

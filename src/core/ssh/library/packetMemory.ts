// ssh2 makes two buffers for each packet of 32 KiB that it sends: one to put it together, one
// encrypted. Here the first is always the same one, and the second is freed when the socket has it.
// What is encrypted, and how, stays ssh2's.
import { randomFillSync } from 'node:crypto';
import type { Client } from 'ssh2';
import { innerParts, type PacketCipher } from './innerParts.js';

/** Below this Node's pool serves well. */
const least = 4096;
/** The most that a channel's packet holds, with its header, padding and some room. */
const most = 34 * 1024;

const known = new WeakSet();
/** Encrypted packets on their way to a socket, which nobody else has. */
const spent = new WeakSet<Uint8Array>();

/** True once for a buffer that may be freed when it has been written. */
export const isSpent = (data: unknown): data is Uint8Array =>
  data instanceof Uint8Array && spent.delete(data);

/**
 * For all connections, from the first on that encrypts so. A packet is allocated, filled and
 * encrypted in one go, so one piece of memory serves them all. False where ssh2 is not as expected.
 */
export function spareMemory(client: Client): boolean {
  const cipher = innerParts.cipher.find(client);
  if (cipher === undefined) return false;
  const prototype = Object.getPrototypeOf(cipher) as PacketCipher;
  if (known.has(prototype)) return true;
  known.add(prototype);
  const memory = Buffer.allocUnsafeSlow(most);
  if (!laysAlike(cipher, memory)) {
    known.delete(prototype);
    return false;
  }
  const adopted = new WeakSet<PacketCipher>();
  const { allocPacket } = prototype;
  prototype.allocPacket = function (length) {
    if (!adopted.has(this)) {
      adopted.add(this);
      adopt(this, memory);
    }
    const packet = length < least ? undefined : lay(memory, length);
    return packet ?? allocPacket.call(this, length);
  };
  return true;
}

/** Whether ssh2 puts a packet together as `lay` does: else what it sends would be no packet. */
function laysAlike(cipher: PacketCipher, memory: Buffer): boolean {
  return [least, least + 7, 32 * 1024].every((length) => {
    const own: unknown = cipher.allocPacket(length);
    const laid = lay(memory, length);
    return (
      Buffer.isBuffer(own) && own.length === laid?.length && own.subarray(0, 5).equals(laid.subarray(0, 5))
    );
  });
}

/**
 * RFC 4253, section 6, with the length not encrypted (RFC 5647): length, padding's length, payload,
 * padding to blocks of 16 bytes.
 */
function lay(memory: Buffer, length: number): Buffer | undefined {
  const bare = 1 + length;
  const short = 16 - (bare % 16);
  const padding = short < 4 ? short + 16 : short;
  if (4 + bare + padding > memory.length) return undefined;
  const packet = memory.subarray(0, 4 + bare + padding);
  packet.writeUInt32BE(bare + padding, 0);
  packet[4] = padding;
  randomFillSync(packet, 5 + length, padding);
  return packet;
}

/**
 * What it sends: parts of the memory are copied, for the next packet comes before the socket has
 * them; encrypted ones are remembered.
 */
function adopt(cipher: PacketCipher, memory: Buffer): void {
  const write = cipher._onWrite;
  cipher._onWrite = (data) => {
    if (data.buffer === memory.buffer) write(Buffer.from(data));
    else {
      if (data.length >= least) spent.add(data);
      write(data);
    }
  };
}

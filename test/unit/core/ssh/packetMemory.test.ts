// Memory that is given back at once, the socket that gathers, and ssh2 not as expected.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'ssh2';
import { expect, it, vi } from 'vitest';
import { free, freePacket } from '../../../../src/core/base/memory.js';
import { GatheringSocket } from '../../../../src/core/ssh/ssh2/gatheringSocket.js';
import { spareMemory } from '../../../../src/core/ssh/library/packetMemory.js';
import { Receiving } from '../../../../src/core/ssh/library/receivedMemory.js';

it('frees a buffer that has its memory alone, and no other', () => {
  const whole = Buffer.alloc(100_000);
  const part = Buffer.from(Buffer.alloc(100_000, 1).buffer, 10, 50);
  const pooled = Buffer.from('from the pool');
  for (const buffer of [whole, part, pooled]) free(buffer);
  expect([whole.length, part.length, pooled.toString()]).toEqual([0, 50, 'from the pool']);
});

it('frees the memory of a packet by its data, and no memory that others may use', () => {
  const data = Buffer.from(new ArrayBuffer(32_800), 10, 32_768);
  const small = Buffer.from(new ArrayBuffer(4000), 10, 3980);
  const shared = Buffer.from(new ArrayBuffer(65_536), 10, 32_768);
  for (const chunk of [data, small, shared]) freePacket(chunk);
  expect([data.length, small.length, shared.length]).toEqual([0, 3980, 32_768]);
});

it('reads into the same memory only while nobody keeps what was read', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = new GatheringSocket();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  socket.connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [other] = await accepted;
  const reader = { isCopying: true, wholePackets: (data: Buffer) => data.length };
  const chunks: Buffer[] = [];
  const said: string[] = [];
  const read = async (text: string): Promise<void> => {
    const count = chunks.length;
    other.write(text);
    await expect.poll(() => chunks.length).toBeGreaterThan(count);
  };
  other.write('early'); // before there is a listener, as a server's greeting may come
  await expect.poll(() => socket.readableLength).toBe('early'.length);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    said.push(String(chunk));
  });
  await expect.poll(() => chunks.length).toBe(1);
  await read('first');
  socket.reuseMemory(reader);
  for (const text of ['one', 'two']) await read(text);
  expect(chunks.map(String)).toEqual(['early', 'first', 'two', 'two']);
  reader.wholePackets = (data) => data.lastIndexOf('.') + 1 || data.length;
  for (const text of ['a.b', 'c.d', '.e']) await read(text);
  reader.isCopying = false;
  for (const text of ['end', 'new']) await read(text);
  expect(said).toEqual(['early', 'first', 'one', 'two', 'a.', 'bc.', 'd.', 'eend', 'new']);
  expect(chunks.slice(-2).map(String)).toEqual(['eend', 'new']);
  reader.isCopying = true;
  reader.wholePackets = () => {
    reader.isCopying = false; // as with new keys in what was read
    return 2;
  };
  await read('lastrest');
  await expect.poll(() => said.slice(-2)).toEqual(['la', 'strest']);
  other.end();
  await once(socket, 'end');
  socket.destroy();
  server.close();
});

it('sends what is written in one turn in one piece', async () => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = new GatheringSocket();
  const whole = vi.fn(socket._writev?.bind(socket));
  const single = vi.fn(socket._write.bind(socket));
  Object.assign(socket, { _writev: whole, _write: single });
  socket.connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  await once(socket, 'connect');
  for (const part of ['length', 'packet']) socket.write(part);
  await new Promise((resolve) => socket.write('tag', resolve));
  expect(single).not.toHaveBeenCalled();
  expect(whole.mock.calls.map(([chunks]) => chunks.length)).toEqual([3]);
  expect(socket.bytesWritten).toBe('lengthpackettag'.length);
  socket.destroy();
  server.close();
});

it('leaves an ssh2 alone that it does not know', () => {
  const without = new Client();
  const withOther = Object.assign(new Client(), {
    _protocol: {
      _cipher: { _onWrite: () => undefined, _encSSLName: 'aes-128-ctr', allocPacket: 1, encrypt: 1 },
    },
  });
  expect([spareMemory(without), spareMemory(withOther)]).toEqual([false, false]);
  expect([0, 8].map((more) => spareMemory(packing(more)))).toEqual([true, false]);
});

/** A client that decrypts by `cipher`; it has `came` bytes of a packet of `length` bytes. */
function decrypting(cipher: string, { came = 0, length = 0 } = {}): Client {
  const begun = { _lenBytes: length === 0 ? 0 : 4, _len: length, _pktLen: came, _tagPos: 0 };
  return Object.assign(new Client(), { _protocol: { _decipher: { _decipherSSLName: cipher, ...begun } } });
}

it('knows by the keys of the moment whether ssh2 keeps what it reads', () => {
  const client = decrypting('aes-128-gcm');
  const receiving = Receiving.of(client);
  expect(receiving?.isCopying).toBe(true);
  Object.assign(client, decrypting('aes-128-ctr'));
  expect(Receiving.of(client)?.isCopying).toBe(false);
  expect(Receiving.of(new Client())).toBeUndefined();
});

it('knows where the last whole packet of what was read ends', () => {
  const packet = Buffer.alloc(4 + 48 + 16);
  packet.writeUInt32BE(48);
  const wrong = Buffer.alloc(68, 255);
  const ends = (client: Client, ...read: Buffer[]): number | undefined =>
    Receiving.of(client)?.wholePackets(Buffer.concat(read));
  const between = decrypting('aes-128-gcm');
  expect(ends(between, packet, packet)).toBe(136);
  expect(ends(between, packet, packet, packet.subarray(0, 3))).toBe(136);
  expect(ends(between, packet, packet.subarray(0, 67))).toBe(68);
  expect(ends(between, packet.subarray(0, 67))).toBe(67); // no packet ends: ssh2 gets all
  expect(ends(between, packet, wrong)).toBe(136); // and says what is wrong
  const within = decrypting('aes-128-gcm', { came: 8, length: 48 });
  expect(ends(within, packet.subarray(12), packet, packet.subarray(0, 9))).toBe(56 + 68);
  expect(ends(within, packet.subarray(12, 60))).toBe(48);
  expect(ends(decrypting('aes-128-ctr'), packet, packet.subarray(0, 9))).toBe(77);
});

/** A client whose packets are laid out as those of ssh2 1.17, or are longer. */
function packing(more: number): Client {
  class Cipher {
    readonly _encSSLName = 'aes-128-gcm';
    readonly _onWrite = (): void => undefined;
    allocPacket(length: number): Buffer {
      const short = 16 - ((length + 1) % 16);
      const padding = (short < 4 ? short + 16 : short) + more;
      const packet = Buffer.alloc(5 + length + padding);
      packet.writeUInt32BE(packet.length - 4);
      packet[4] = padding;
      return packet;
    }
    encrypt(): void {
      // nothing is sent here
    }
  }
  return Object.assign(new Client(), { _protocol: { _cipher: new Cipher() } });
}

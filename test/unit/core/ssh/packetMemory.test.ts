// Memory that is given back at once, the socket that gathers, and ssh2 not as expected.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Client } from 'ssh2';
import { expect, it, vi } from 'vitest';
import { free } from '../../../../src/core/base/memory.js';
import { GatheringSocket } from '../../../../src/core/ssh/ssh2/gatheringSocket.js';
import { spareMemory } from '../../../../src/core/ssh/library/packetMemory.js';

it('frees a buffer that has its memory alone, and no other', () => {
  const whole = Buffer.alloc(100_000);
  const part = Buffer.from(Buffer.alloc(100_000, 1).buffer, 10, 50);
  const pooled = Buffer.from('from the pool');
  for (const buffer of [whole, part, pooled]) free(buffer);
  expect([whole.length, part.length, pooled.toString()]).toEqual([0, 50, 'from the pool']);
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

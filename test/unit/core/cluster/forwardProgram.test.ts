// Many connections on one channel, against the real program of the node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FrameReader, frameBytes, frameWindow } from '../../../../src/core/streams/forwardFrames.js';
import { ForwardProgram } from '../../../../src/core/cluster/nodes/forwardProgram.js';
import { program as setUp, pythonWords } from '../../../sshd/support/setUpProgram.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function started(): ForwardProgram {
  const child = spawn('python3', pythonWords(setUp), { stdio: 'pipe' });
  const closed = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  const { stdin, stdout, stderr } = child;
  stdin.write(`${JSON.stringify({ op: 'forward', params: {} })}\n`);
  const dispose = (): void => {
    child.kill();
  };
  const program = new ForwardProgram({ stdin, stdout, stderr, closed, dispose }, 'here');
  ends.push(() => {
    program.dispose();
  });
  return program;
}

async function listening(serve: (socket: Socket) => void): Promise<{ host: string; port: number }> {
  const server: Server = createServer({ allowHalfOpen: true }, serve);
  ends.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

describe('connections on one channel', () => {
  it('one whose reader has stopped takes a window, and holds up no other', async () => {
    const place = await listening((socket) => {
      socket.on('error', () => undefined);
      const more = (): void => {
        while (socket.write(Buffer.alloc(65536)));
        socket.once('drain', more);
      };
      more();
    });
    const echo = await listening((socket) => socket.pipe(socket));
    const program = started();
    const stuck = await program.connect(place); // nobody reads it
    await expect.poll(() => stuck.readableLength).toBeGreaterThan(0);
    const other = await program.connect(echo);
    other.end('not held up');
    const parts: Buffer[] = [];
    for await (const part of other) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString()).toBe('not held up');
    expect(stuck.readableLength).toBeLessThanOrEqual(frameWindow);
    stuck.destroy();
  });

  it('ends with the program, and says so to those who are connected', async () => {
    const echo = await listening((socket) => socket.pipe(socket));
    const program = started();
    const stream = await program.connect(echo);
    const failed = once(stream, 'error');
    program.dispose();
    expect(String((await failed)[0])).toMatch(/a connection from here was lost/);
    await expect(program.connect(echo)).rejects.toThrow(/has ended/);
  });

  it('frames come whole however they are cut', () => {
    const reader = new FrameReader();
    const bytes = Buffer.concat([frameBytes('data', 7, Buffer.from('abc')), frameBytes('end', 7)]);
    const frames = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
    expect(frames.map(({ kind, number, data }) => [kind, number, data.toString()])).toEqual([
      ['data', 7, 'abc'],
      ['end', 7, ''],
    ]);
    expect(() => new FrameReader().push(frameBytes('data', 1).fill(9, 0, 1))).toThrow(/unknown kind 9/);
  });
});

import { createServer, type AddressInfo, type Server } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { nullLogger } from '../../../../src/core/base/log.js';
import { nodePath, type NodePath } from '../../../../src/core/base/nodePath.js';
import type { SshMachine } from '../../../../src/core/cluster/sshMachine.js';
import { PortForward } from '../../../../src/core/tunnels/portForward.js';
import { Tunnels } from '../../../../src/core/tunnels/tunnels.js';
import { parseTunnel, tunnelText } from '../../../../src/core/tunnels/tunnelSpec.js';

describe('the words of a tunnel', () => {
  it.each([
    ['6006:6006', { local: 6006, address: '127.0.0.1', remote: 6006 }],
    ['gpu2/8080:80', { host: 'gpu2', local: 8080, address: '127.0.0.1', remote: 80 }],
    ['8080:10.0.0.9:80', { local: 8080, address: '10.0.0.9', remote: 80 }],
  ])('%s', (text, spec) => {
    expect(parseTunnel(text)).toEqual(spec);
    expect(tunnelText(parseTunnel(text))).toBe(text);
  });
  it.each(['', '6006', '0:80', '80:65536', 'a:b', '1:2:3:4', '-1:2'])('refuses "%s"', (text) => {
    expect(() => parseTunnel(text)).toThrow(/names no two ports/);
  });
});

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
async function echo(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function through(port: number, bytes: Buffer): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => parts.push(chunk));
  socket.on('error', () => undefined);
  socket.end(bytes);
  await once(socket, 'close');
  return Buffer.concat(parts);
}

describe('a forwarded port', () => {
  it('carries bytes both ways, counts them, and ends each way by itself', async () => {
    const target = await echo();
    const forward = await PortForward.open({
      port: 0,
      connect: () =>
        Promise.resolve(connect({ port: portOf(target), host: '127.0.0.1', allowHalfOpen: true })),
      remote: 'there',
    });
    open.push({
      close: () => {
        forward.dispose();
      },
    });
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    expect((await through(forward.port, bytes)).equals(bytes)).toBe(true);
    expect([forward.bytesOut, forward.bytesIn]).toEqual([bytes.length, bytes.length]);
    await expect.poll(() => forward.connections).toBe(0);
  });

  it('says what is wrong while the other end cannot be reached, and is well again after it', async () => {
    const target = await echo();
    let broken = true;
    const forward = await PortForward.open({
      port: 0,
      connect: () =>
        broken
          ? Promise.reject(new Error('no way'))
          : Promise.resolve(connect({ port: portOf(target), host: '127.0.0.1', allowHalfOpen: true })),
      remote: 'there',
    });
    open.push({
      close: () => {
        forward.dispose();
      },
    });
    expect((await through(forward.port, Buffer.from('x'))).length).toBe(0);
    expect([forward.state, forward.lastProblem]).toEqual(['failing', new Error('no way')]);
    broken = false;
    expect((await through(forward.port, Buffer.from('x'))).toString()).toBe('x');
    expect(forward.state).toBe('open');
  });

  it('takes the next free port', async () => {
    const taken = await echo();
    const forward = await PortForward.open({
      port: portOf(taken),
      connect: () => Promise.reject(new Error('unused')),
      remote: 'there',
    });
    open.push({
      close: () => {
        forward.dispose();
      },
    });
    expect(forward.port).toBeGreaterThan(portOf(taken));
  });
});

it('a port that is closed while a connection is being made leaves none', async () => {
  const channel = connect({ port: portOf(await echo()), host: '127.0.0.1' });
  let asked = (): void => undefined;
  const isAsked = new Promise<void>((done) => (asked = done));
  let give: (channel: Duplex) => void = () => undefined;
  const given = new Promise<Duplex>((done) => (give = done));
  const connectLate = (): Promise<Duplex> => (asked(), given);
  const forward = await PortForward.open({ port: 0, connect: connectLate, remote: 'there' });
  const socket = connect(forward.port, '127.0.0.1');
  await isAsked;
  expect(forward.connections).toBe(0);
  forward.dispose();
  give(channel);
  await Promise.all([once(socket, 'close'), once(channel, 'close')]);
});

describe('the tunnels of a cluster', () => {
  it('lead to a port of a node by the newest run that has it', async () => {
    const target = await echo();
    const asked: string[] = [];
    const connectPort = (dir: NodePath, host: string, port: number): Promise<Duplex> => {
      asked.push(`${dir} ${host}:${port}`);
      return Promise.resolve(connect({ port: portOf(target), host: '127.0.0.1', allowHalfOpen: true }));
    };
    const tunnels = new Tunnels({ connectPort } as Partial<SshMachine> as SshMachine, nullLogger);
    open.push({
      close: () => {
        tunnels.dispose();
      },
    });
    const port = portOf(target) + 1;
    const first = await tunnels.openToRun(nodePath('/runs/a'), 'n2', port);
    expect((await through(first.forward.port, Buffer.from('x'))).toString()).toBe('x');
    expect(await tunnels.openToRun(nodePath('/runs/b'), 'n2', port)).toBe(first);
    expect(tunnels.all).toEqual([first]);
    await through(first.forward.port, Buffer.from('y'));
    expect(asked).toEqual([`/runs/a n2:${port}`, `/runs/b n2:${port}`]);
  });
});

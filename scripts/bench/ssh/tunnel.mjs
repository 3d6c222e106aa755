// Bytes through a tunnel: ours beside `ssh -L`, and what ours holds when nobody reads.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, portOf } from '../../lib/freePort.mjs';
import { byTurns } from './rounds.mjs';
import { ourCipher } from './world.mjs';

/** @import { Socket } from 'node:net' */
/** @import { OnRound } from './rounds.mjs' */
/** @import { World } from './world.mjs' */

const size = 512 * 1024 * 1024;
const chunk = Buffer.alloc(1024 * 1024, 'trainyard');

/**
 * Listens on a port of its own; `serve` is given each connection.
 * @param {(socket: Socket) => unknown} serve
 */
async function listen(serve) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // who measured has left
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/**
 * Writes as fast as it is taken, `bytes` in all.
 * @param {Socket} socket
 * @param {number} bytes
 */
function pour(socket, bytes) {
  let left = bytes;
  const more = () => {
    for (; left > 0 && !socket.destroyed; left -= chunk.length) {
      if (!socket.write(chunk)) {
        left -= chunk.length;
        socket.once('drain', more);
        return;
      }
    }
    socket.end();
  };
  more();
}

/**
 * Milliseconds until everything came through `port`.
 * @param {number} port
 * @returns {Promise<number>}
 */
function fetched(port) {
  const began = performance.now();
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const buffer = Buffer.alloc(1024 * 1024);
    /** @param {number} count */
    const callback = (count) => (bytes += count) > 0;
    connect({ host: '127.0.0.1', port, onread: { buffer, callback } })
      .on('error', reject)
      .on('close', () => {
        if (bytes === size) resolve(performance.now() - began);
        else reject(new Error(`${bytes} of ${size} bytes came through the tunnel`));
      });
  });
}

/**
 * An `ssh -L` that stays.
 * @param {World} world
 * @param {number} remote
 * @param {string} [cipher]
 */
async function sshTunnel(world, remote, cipher) {
  const port = await freePort();
  const [command, ...args] = world.ssh(
    ['-N', '-o', 'ExitOnForwardFailure=yes', '-L', `127.0.0.1:${port}:127.0.0.1:${remote}`],
    cipher,
  );
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  for (const end = Date.now() + 10_000; ; await pause(50)) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return { port, stop: () => child.kill() };
    if (Date.now() > end || child.exitCode !== null) {
      child.kill();
      throw new Error('ssh -L did not start');
    }
  }
}

/**
 * Milliseconds through a tunnel of a new process, whose first transfer is not counted. One process
 * is up to a fifth faster or slower than the next one of the same build, so each round has its own.
 * @param {World} world
 * @param {number} remote
 */
async function ofNewProcess(world, remote) {
  const client = world.client();
  try {
    const port = await client.ask('tunnel', { port: remote });
    await fetched(port);
    return await fetched(port);
  } finally {
    client.stop();
  }
}

/**
 * @param {World} world
 * @param {OnRound} onRound
 */
export async function measureTunnel(world, onRound) {
  const source = await listen((socket) => pour(socket, size));
  const remote = portOf(source);
  const [plain, same] = await Promise.all([sshTunnel(world, remote), sshTunnel(world, remote, ourCipher)]);
  try {
    return await byTurns(
      {
        ours: () => ofNewProcess(world, remote),
        ssh: () => fetched(plain.port),
        sameCipher: () => fetched(same.port),
      },
      onRound,
    );
  } finally {
    for (const tunnel of [plain, same]) tunnel.stop();
    source.close();
  }
}

/**
 * The most that is held above the start while one side writes and the other has stopped reading,
 * either way round. Bytes.
 * @param {World} world
 */
export async function measureStalled(world) {
  const grown = [];
  for (const stalls of ['here', 'there']) {
    const client = world.client();
    const far = await listen((socket) => (stalls === 'here' ? pour(socket, size) : socket.pause()));
    const port = await client.ask('tunnel', { port: portOf(far) });
    const before = await client.ask('resident');
    const near = connect(port, '127.0.0.1').on('error', () => undefined);
    near.pause();
    if (stalls === 'there') pour(near, size);
    let most = before;
    for (const end = Date.now() + 10_000; Date.now() < end; await pause(100))
      most = Math.max(most, await client.ask('resident'));
    grown.push(most - before);
    near.destroy();
    client.stop();
    far.close();
  }
  return Math.max(...grown);
}

// The addresses of TensorBoard, when a machine that they lead to is disconnected.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import { TensorBoards } from '../../../../src/core/tunnels/tensorboard.js';
import { temporaryFolder } from '../../support/temporary.js';

const socket = join(temporaryFolder(), 'tensorboard.sock');
const server = createServer((_asked, answer) => answer.end('TensorBoard'));
beforeAll(() => new Promise<void>((resolve) => void server.listen(socket, resolve)));
afterAll(() => {
  server.close();
});

/** One whose TensorBoard serves. */
function machineServing(): Machine {
  const client = { request: () => Promise.resolve({ socket, running: true }) };
  const machine = {
    node: { client: () => Promise.resolve(client) },
    runtime: () => Promise.resolve({ python: 'python3', tensorboardServer: 'serve.py' }),
    connectSocket: () => Promise.resolve(connect(socket)),
  };
  return machine as unknown as Machine;
}

it('go with it, and those to other machines stay', async () => {
  const boards = new TensorBoards();
  try {
    const dir = nodePath('/runs/r');
    const [lab, west] = [machineServing(), machineServing()];
    const gone = await boards.open(lab, dir);
    const kept = await boards.open(west, dir);
    expect(await boards.open(lab, dir)).toBe(gone);
    expect(boards.leadsTo(lab, dir)).toBe(true);
    boards.leave(lab);
    expect(boards.leadsTo(lab, dir)).toBe(false);
    await expect.poll(() => fetch(gone.url).catch(() => 'nobody listens')).toBe('nobody listens');
    expect(await (await fetch(kept.url)).text()).toBe('TensorBoard');
    expect(boards.leadsTo(west, dir)).toBe(true);
  } finally {
    boards.dispose();
  }
});

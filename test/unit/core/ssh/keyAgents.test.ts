// Key agents that do not answer: a forwarded one whose other end is gone still takes connections.
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Cancelled } from '../../../../src/core/base/errors.js';
import { loadIdentities, type Identities } from '../../../../src/core/ssh/auth/identities.js';
import { Secrets } from '../../../../src/core/ssh/auth/secrets.js';
import type { SshConfig } from '../../../../src/core/ssh/config/config.js';
import { loadSsh2 } from '../../../../src/core/ssh/library/loadSsh2.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const servers: Server[] = [];
let sockets: Socket[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

async function silentAgent(): Promise<string> {
  const path = join(folder, `agent${Math.random()}`);
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.resume();
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  return path;
}

async function identities(agents: string[], signal?: AbortSignal): Promise<Identities> {
  const config = {
    ...{ host: 'gpu1', methods: { publickey: true }, identityFiles: [], identitiesOnly: false, agents },
  } as unknown as SshConfig;
  const nobody = { secret: () => Promise.resolve(undefined), trust: () => Promise.resolve(false) };
  return loadIdentities(await loadSsh2(), config, new Secrets(nobody), signal, 2_000);
}

it('are left out after a while, and named, and no connection to them stays', async () => {
  const path = await silentAgent();
  const began = Date.now();
  const { list, problems } = await identities([path]);
  expect(Date.now() - began).toBeLessThan(10_000);
  expect(list).toEqual([]);
  expect(problems).toEqual([`the key agent at ${path} does not answer: it listed no keys within 2 s`]);
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
});

it('are left at once by who gives the login up', async () => {
  const path = await silentAgent();
  const abort = new AbortController();
  const asked = identities([path], abort.signal);
  await expect.poll(() => sockets.length).toBe(1);
  const began = Date.now();
  abort.abort();
  await expect(asked).rejects.toBeInstanceOf(Cancelled);
  expect(Date.now() - began).toBeLessThan(1_900); // before its time is over
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
});

it('are told from those that are not there', async () => {
  const { problems } = await identities([join(folder, 'nobody')]);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/does not answer: Failed to connect to agent/);
});

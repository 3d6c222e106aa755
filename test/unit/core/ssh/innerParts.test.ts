// The inner parts of ssh2: the installed version has each of them, and a client that lacks one is
// left alone.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2, { type Client, type ConnectConfig } from 'ssh2';
import installed from 'ssh2/package.json' with { type: 'json' };
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { GuardedParts } from '../../../../src/core/ssh/library/guardedParts.js';
import { innerParts, knownVersion } from '../../../../src/core/ssh/library/innerParts.js';
import { MemoryLogger } from '../../../sshd/support/memoryLogger.js';

/** Asks for a password, and takes any. */
const server = new ssh2.Server(
  { hostKeys: [ssh2.utils.generateKeyPairSync('ed25519').private] },
  (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => {
      if (context.method === 'password') context.accept();
      else context.reject(['password']);
    });
  },
);
const clients: Client[] = [];
let logger: MemoryLogger;
let parts: GuardedParts;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  logger = new MemoryLogger();
  parts = new GuardedParts(logger);
});
afterAll(() => {
  for (const client of clients) client.destroy();
  server.close();
});

function connect(cipher: 'aes128-gcm@openssh.com' | 'aes128-ctr' = 'aes128-gcm@openssh.com'): Client {
  const { port } = server.address() as AddressInfo;
  const config: ConnectConfig = { host: '127.0.0.1', port, username: 'me', password: 'any' };
  const client = new ssh2.Client().connect({ ...config, algorithms: { cipher: [cipher] } });
  clients.push(client);
  return client;
}

async function loggedIn(...options: Parameters<typeof connect>): Promise<Client> {
  const client = connect(...options);
  await once(client, 'ready');
  return client;
}

/** An inner part of a client, however this ssh2 has it. */
const inside = (client: Client, ...path: string[]): unknown =>
  path.reduce<unknown>((part, name) => Reflect.get(part as object, name), client);

/** Takes a part away for the time of `use`: ssh2 itself wants it back when the connection ends. */
function without(owner: object, name: string, use: () => void): void {
  const part = Object.getOwnPropertyDescriptor(owner, name)!;
  Reflect.deleteProperty(owner, name);
  use();
  Object.defineProperty(owner, name, part);
}

it('the installed ssh2 is the one whose inner parts were read', () => {
  const list = Object.values(innerParts).map(({ place, purpose }) => `- ${place}: Trainyard ${purpose}`);
  const advice = [
    `ssh2 is ${installed.version}, and Trainyard knows the inner parts of ${knownVersion}.`,
    'Read in node_modules/ssh2/lib that each of these still is what Trainyard takes it for:',
    ...list,
    'Run the tests of test/sshd. Then change knownVersion in src/core/ssh/library/innerParts.ts.',
  ].join('\n');
  expect(installed.version, advice).toBe(knownVersion);
});

it('every part is as expected in the installed ssh2', async () => {
  const client = connect();
  const refusals: unknown[] = [];
  const isWatched = parts.watchRefusals(client, (...refusal) => refusals.push(refusal));
  await once(client, 'ready');
  expect([isWatched, refusals]).toEqual([true, [[['password'], false]]]);
  const { exchange, cipher } = innerParts;
  expect([exchange.find(client), cipher.find(client)]).toEqual([expect.anything(), expect.anything()]);
  const { allocPacket } = cipher.find(client)!;
  const receiving = parts.improve(client);
  expect(receiving?.isCopying).toBe(true);
  expect(logger.lines).toEqual([]);
  expect(cipher.find(client)!.allocPacket).not.toBe(allocPacket);
  const accessor = Object.getOwnPropertyDescriptor(inside(client, '_protocol'), '_kexinit');
  expect(accessor?.get).toBeTypeOf('function');
});

it('a cipher with a MAC of its own is left alone, and nothing is wrong with that', async () => {
  const client = await loggedIn('aes128-ctr');
  const before = inside(client, '_protocol', '_cipher', '_onWrite');
  expect(parts.improve(client)?.isCopying).toBe(false);
  expect(inside(client, '_protocol', '_cipher', '_onWrite')).toBe(before);
  expect(logger.lines).toEqual([]);
});

it.each(['_protocol', '_handlers', 'USERAUTH_FAILURE'])(
  'a client without %s is left alone before the login, which is said once',
  (missing) => {
    for (let i = 0; i < 2; i++) {
      const handlers = { USERAUTH_FAILURE: () => undefined };
      const protocol = { _handlers: handlers };
      const client = Object.assign(new ssh2.Client(), { _protocol: protocol });
      for (const owner of [client, protocol, handlers]) Reflect.deleteProperty(owner, missing);
      const before = { ...handlers };
      expect(parts.watchRefusals(client, () => undefined)).toBe(false);
      expect(handlers).toEqual(before);
    }
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        text: `the ssh2 library is not as in version ${knownVersion} (client._protocol._handlers.USERAUTH_FAILURE): nobody logs in by it, only by the ssh of this machine`,
      },
    ]);
  },
);

it.each([
  ['the state of the exchange', ['_protocol'], '_kexinit'],
  ['writers', ['_protocol'], '_packetRW'],
  ['a writer', ['_protocol', '_packetRW'], 'write'],
  ['the room of a header', ['_protocol', '_packetRW', 'write'], 'allocStart'],
])('a client without %s is left alone when keys are renewed, which is said once', async (_, path, name) => {
  for (let i = 0; i < 2; i++) {
    const client = await loggedIn();
    const protocol = inside(client, '_protocol') as object;
    without(inside(client, ...path) as object, name, () => {
      parts.improve(client);
      expect(Object.getOwnPropertyDescriptor(protocol, '_kexinit')?.get).toBeUndefined();
    });
  }
  expect(logger.lines.map(({ text }) => text)).toEqual([
    expect.stringMatching(/_kexinit.*: a connection may be lost when its server asks for new keys$/),
  ]);
});

it.each(['_onWrite', '_encSSLName', 'allocPacket', 'encrypt'])(
  'a cipher without %s is left alone, which is said once',
  async (name) => {
    for (let i = 0; i < 2; i++) {
      const client = await loggedIn();
      const cipher = inside(client, '_protocol', '_cipher') as object;
      // Methods of its own: those of the library's class are every other connection's too.
      const methods = { allocPacket: () => Buffer.alloc(0), encrypt: vi.fn(), free: vi.fn() };
      Object.setPrototypeOf(cipher, methods);
      without(name in methods ? methods : cipher, name, () => {
        const before = { ...cipher, ...methods };
        parts.improve(client);
        expect({ ...cipher, ...methods }).toEqual(before);
      });
    }
    expect(logger.lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/\(client\._protocol\._cipher\): sending takes more memory$/),
    ]);
  },
);

it('a client without its decipher is left alone, which is said once', async () => {
  for (let i = 0; i < 2; i++) {
    const client = await loggedIn();
    without(inside(client, '_protocol') as object, '_decipher', () => {
      expect(parts.improve(client)).toBeUndefined();
    });
  }
  expect(logger.lines.map(({ text }) => text)).toEqual([
    expect.stringMatching(/\(client\._protocol\._decipher\): receiving takes more memory$/),
  ]);
});

it.each(['_decipherSSLName', '_lenBytes', '_len', '_pktLen', '_tagPos'])(
  'a decipher without %s is left to ssh2',
  async (name) => {
    const client = await loggedIn();
    without(inside(client, '_protocol', '_decipher') as object, name, () => {
      const receiving = parts.improve(client);
      expect(receiving?.isCopying).toBe(false);
      expect(receiving?.wholePackets(Buffer.alloc(100))).toBe(100);
    });
  },
);

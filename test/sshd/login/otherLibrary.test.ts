// An ssh2 whose inner parts are not those that Trainyard looks into: it logs nobody in, and the
// user's own ssh does.
import ssh2 from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';
import { MemoryLogger } from '../support/memoryLogger.js';

const world = new World();
const whole = ssh2.Client;
let target: SshTarget;

beforeAll(async () => {
  const { address: host, port, ...server } = await world.serve('127.0.0.2');
  world.know(known({ address: host, port, ...server }));
  target = { host, port, identityFile: world.key };
});
afterAll(async () => {
  ssh2.Client = whole;
  await world.remove();
});

function transportOf(kind: 'auto' | 'ssh2', logger: MemoryLogger): LazyTransport {
  const { home, configFile, dir } = world;
  const surroundings = { env: { PATH: process.env['PATH'] }, home: dir };
  const options = { prompter: new ScriptedPrompter(), home, logger, configFile, surroundings };
  return new LazyTransport({ transport: kind }, options);
}

test('nobody logs in by it: the host is reached by the ssh of this machine, and an error says why', async () => {
  ssh2.Client = class extends whole {
    override connect(config: ssh2.ConnectConfig): this {
      super.connect(config);
      Reflect.set(Reflect.get(this, '_protocol') as object, '_handlers', {
        USERAUTH_REFUSED: () => undefined,
      });
      return this;
    }
  };
  const logger = new MemoryLogger();
  const [auto, only] = [transportOf('auto', logger), transportOf('ssh2', logger)];
  const connection = await auto.connect(target, {});
  expect(await text((await connection.exec('echo in')).stdout)).toBe('in\n');
  expect(JSON.stringify(logger.lines)).toContain('is reached by the ssh of this machine');
  await expect(only.connect(target, {})).rejects.toThrow(/needs your own ssh: the ssh2 library here/);
  auto.dispose();
  only.dispose();
});

test('packets of another layout are left to it, which is said', async () => {
  let restore = (): void => undefined;
  ssh2.Client = class extends whole {
    override connect(config: ssh2.ConnectConfig): this {
      super.connect(config);
      this.once('ready', () => {
        const cipher = Reflect.get(Reflect.get(this, '_protocol') as object, '_cipher') as object;
        const prototype = Object.getPrototypeOf(cipher) as { allocPacket: (length: number) => Buffer };
        const { allocPacket } = prototype;
        restore = () => {
          prototype.allocPacket = allocPacket;
        };
        prototype.allocPacket = function (length) {
          const usual = allocPacket.call(this, length);
          const longer = Buffer.concat([usual, Buffer.alloc(16)]); // more padding
          longer.writeUInt32BE(usual.readUInt32BE(0) + 16);
          longer[4] = (usual[4] ?? 0) + 16;
          return longer;
        };
      });
      return this;
    }
  };
  const logger = new MemoryLogger();
  const transport = transportOf('ssh2', logger);
  const connection = await transport.connect(target, {});
  expect(JSON.stringify(logger.lines)).toMatch(/not as in version .*: sending takes more memory/);
  const channel = await connection.exec('wc -c');
  channel.stdin.end(Buffer.alloc(300_000));
  expect(await text(channel.stdout)).toBe('300000\n');
  transport.dispose();
  restore();
});

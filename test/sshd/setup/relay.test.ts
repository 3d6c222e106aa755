// Files from one node to another: the set-up program's two sides, as two processes, with an honest
// and a dishonest network between them.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TarDigest } from '../../../src/core/streams/tarDigest.js';
import { until } from '../../support/harness.js';
import { program, pythonWords } from '../support/setUpProgram.js';

const key = 'ab'.repeat(32);
const dir = mkdtempSync(join(tmpdir(), 'trainyard-relay-'));
const source = join(dir, 'source');
const big = Buffer.from(Array.from({ length: 2_500_000 }, (_, index) => (index * index) % 251));

interface Answer {
  result?: Record<string, unknown>;
  error?: { what: string; remedy: string | null };
}

/** A node's set-up program. */
class Node {
  private readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor() {
    this.process = spawn('python3', pythonWords(program), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
    nodes.push(this);
  }

  async ask(op: string, params: object, body?: Buffer): Promise<Answer> {
    this.process.stdin!.write(`${JSON.stringify({ op, params })}\n`);
    if (body) this.process.stdin!.write(body);
    for (;;) {
      const { value } = (await this.lines.next()) as { value: string };
      const answer = JSON.parse(value) as Answer;
      if (answer.result || answer.error) return answer; // all else is a sign of life
    }
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null) return;
    this.process.stdin!.end();
    await once(this.process, 'exit');
  }
}

let nodes: Node[] = [];
let servers: Server[] = [];
let given: string;
/** Of what the giver was sent. */
let digest: string;
let offer: { port: number; first: string; mark: unknown; files: number };

beforeAll(() => {
  mkdirSync(join(source, 'deep', 'empty'), { recursive: true });
  writeFileSync(join(source, 'big'), big);
  writeFileSync(join(source, 'deep', 'é "$x" \n'), 'odd', { mode: 0o600 });
  writeFileSync(join(source, 'deep', 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(source, 'deep', 'nothing'), '');
});

/** A node that was sent the files as a tar archive and offers them. */
async function give(more: object = {}): Promise<void> {
  const giver = new Node();
  const to = join(mkdtempSync(join(dir, 'giver-')), 'to');
  const tar = spawn('tar', ['-cf', '-', '-C', source, '.']);
  const parts: Buffer[] = [];
  const summed = new TarDigest();
  for await (const part of tar.stdout) {
    parts.push(part as Buffer);
    summed.update(part as Buffer);
  }
  digest = summed.digest();
  const { result } = await giver.ask('unpack', { to, ...more }, Buffer.concat(parts));
  expect(result).toMatchObject({ files: 4, shared: false });
  given = result!['folder'] as string;
  const params = { key, address: '127.0.0.1', firstPort: 47000, lastPort: 47099 };
  const answer = await giver.ask('offer', params);
  offer = { ...(answer.result as unknown as typeof offer), files: 4 };
}

function fetchFrom(port: number, more: object = {}): Promise<Answer> & { to: string } {
  const to = join(mkdtempSync(join(dir, 'taker-')), 'to');
  const params = { host: '127.0.0.1', key, to, ...offer, digest, port, ...more };
  return Object.assign(new Node().ask('fetch', params), { to });
}

function sameAsSource(to: string): void {
  expect(readdirSync(to, { recursive: true }).sort()).toEqual(
    readdirSync(source, { recursive: true }).sort(),
  );
  expect(readFileSync(join(to, 'big')).equals(big)).toBe(true);
  expect(readFileSync(join(to, 'deep', 'é "$x" \n'), 'utf8')).toBe('odd');
  expect(statSync(join(to, 'deep', 'run.sh')).mode & 0o777).toBe(0o755);
}

/** Something on the way that may change, or end, what flows from the giver. */
async function between(change: (chunk: Buffer, before: number, socket: Socket) => Buffer): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect(offer.port, '127.0.0.1');
    let passed = 0;
    upstream.on('data', (chunk: Buffer) => {
      client.write(change(chunk, passed, client));
      passed += chunk.length;
    });
    client.pipe(upstream);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.end()));
  for (const server of servers) server.close();
  nodes = [];
  servers = [];
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('what one node offers', () => {
  it('comes to others as it is, at the same time, and from them to more', async () => {
    await give();
    const first = fetchFrom(offer.port);
    const second = fetchFrom(offer.port);
    expect((await first).result).toMatchObject({ files: 4, folder: first.to, shared: false });
    expect((await second).result).toMatchObject({ files: 4 });
    sameAsSource(first.to);
    sameAsSource(second.to);
    const params = { key, address: '127.0.0.1', firstPort: 47000, lastPort: 47099 };
    const { result } = await nodes[1]!.ask('offer', params);
    const third = fetchFrom(result!['port'] as number);
    expect((await third).result).toMatchObject({ files: 4 });
    sameAsSource(third.to);
  });

  it('is given to nobody who does not hold the key, and strangers do not disturb it', async () => {
    await give();
    const stranger = connect(offer.port, '127.0.0.1');
    stranger.write(Buffer.alloc(64, 65)); // and never goes on
    const seen: Buffer[] = [];
    stranger.on('data', (chunk: Buffer) => seen.push(chunk));
    const other = await fetchFrom(offer.port, { key: 'cd'.repeat(32) });
    expect(other.error?.what).toContain('ended in the middle');
    const honest = fetchFrom(offer.port);
    expect((await honest).result).toMatchObject({ files: 4 });
    expect(Buffer.concat(seen).length).toBeLessThanOrEqual(50); // its greeting and challenge
    stranger.destroy();
  });

  it('is not taken from one who does not hold the key', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(Buffer.concat([Buffer.from('trainyard-offer-1\n'), Buffer.alloc(200, 66)]));
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    offer = { port: 0, first: 'big', mark: null, files: 1 };
    const answer = await fetchFrom((server.address() as AddressInfo).port);
    expect(answer.error).toMatchObject({ remedy: 'direct' });
    expect(answer.error?.what).toContain('another program answered');
  });

  it.each([100, 60_000, 1_500_000])('is refused when byte %i was changed on its way', async (at) => {
    await give();
    const port = await between((chunk, before) => {
      if (at < before || at >= before + chunk.length) return chunk;
      const changed = Buffer.from(chunk);
      changed[at - before]! ^= 1;
      return changed;
    });
    const taken = fetchFrom(port);
    const { error } = await taken;
    expect(error?.what).toMatch(/changed on its way|something else/);
    expect(error?.remedy).toBe('direct');
    expect(readdirSync(taken.to).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it.each([
    [
      'a byte of a file',
      () => {
        writeFileSync(join(given, 'big'), Buffer.concat([big.subarray(1), Buffer.alloc(1)]));
      },
    ],
    [
      'the length of a file',
      () => {
        appendFileSync(join(given, 'deep', 'run.sh'), 'rm -rf .\n');
      },
    ],
    [
      'the permissions of a file',
      () => {
        chmodSync(join(given, 'deep', 'nothing'), 0o777);
      },
    ],
  ])(
    'is refused when %s differs from what was sent, by whoever holds the key, and does not stay',
    async (_, change) => {
      await give();
      change();
      const taken = fetchFrom(offer.port);
      const { error } = await taken;
      expect(error).toMatchObject({
        what: 'what the other node sent is not what it was given',
        remedy: 'direct',
      });
      const left = readdirSync(taken.to, { recursive: true, withFileTypes: true });
      expect(left.filter((entry) => !entry.isDirectory())).toEqual([]);
    },
  );

  it('comes to those who hold the key while strangers crowd the port, of whom only the newest stay', async () => {
    await give();
    const strangers = { open: 0, closed: 0, over: false };
    const sockets = new Set<Socket>();
    const crowd = (index: number): void => {
      // From 13 addresses, to stand for as many machines; half of them send something.
      const socket = connect({ port: offer.port, host: '127.0.0.1', localAddress: `127.0.7.${index % 13}` });
      sockets.add(socket);
      socket.on('connect', () => strangers.open++);
      if (index % 2 === 0) socket.write(Buffer.alloc(20, 65)); // and never goes on
      socket.resume().on('error', () => undefined);
      socket.on('close', () => {
        strangers.closed++;
        sockets.delete(socket);
        if (!strangers.over)
          setTimeout(() => {
            crowd(index);
          }, 100);
      });
    };
    for (let index = 0; index < 200; index++) crowd(index + 1);
    await until('the oldest to be put out', () => strangers.closed > 136, 15);
    const first = fetchFrom(offer.port);
    const second = fetchFrom(offer.port);
    expect((await first).result).toMatchObject({ files: 4 });
    expect((await second).result).toMatchObject({ files: 4 });
    sameAsSource(first.to);
    strangers.over = true;
    for (const socket of sockets) socket.destroy();
  });

  it('is refused when it was cut, and no part of a file stays', async () => {
    await give();
    const port = await between((chunk, before, socket) => {
      if (before <= 1_000_000) return chunk;
      setImmediate(() => socket.destroy()); // all that is left may come before
      return Buffer.alloc(0);
    });
    const taken = fetchFrom(port);
    expect((await taken).error?.what).toMatch(/ended in the middle|was lost/);
    expect(readdirSync(taken.to).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('is not copied where both see the same disk', async () => {
    await give();
    const { ino } = statSync(join(given, 'big'));
    expect((await fetchFrom(offer.port, { to: given })).result).toMatchObject({ files: 4, shared: true });
    expect(statSync(join(given, 'big')).ino).toBe(ino);
  });

  it('leaves nothing behind that was only the way', async () => {
    await give({ temporary: true });
    const { result } = await fetchFrom(offer.port, { temporary: true });
    sameAsSource(result!['folder'] as string);
    sameAsSource(given);
    await Promise.all(nodes.map((node) => node.end()));
    const left = readdirSync(dir, { recursive: true }).map(String);
    expect(left.filter((path) => path.includes('partial'))).toEqual([]);
  });
});

it('pip from packages that another node sent is run only where it is the pinned one', async () => {
  const wheels = mkdtempSync(join(dir, 'wheels-'));
  const ran = join(wheels, 'ran');
  const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("pip/__main__.py", "open(%r, 'w')" % sys.argv[2])`;
  const wheel = join(wheels, 'pip-26.3-py3-none-any.whl');
  execFileSync('python3', ['-c', script, wheel, ran]);
  const runtime = mkdtempSync(join(dir, 'runtime-'));
  mkdirSync(join(runtime, 'bin'));
  symlinkSync(
    execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim(),
    join(runtime, 'bin', 'python'),
  );
  const params = { dir: join(runtime, 'cuda'), neededBytes: 0, runtime, requirements: '', wheels };
  const pinned = (hash: string): string => `pip==26.3 \\\n    --hash=sha256:${hash}\n`;
  const other = await new Node().ask('cuda', { ...params, pip: pinned('0'.repeat(64)) });
  expect(other.error?.what).toBe('pip-26.3-py3-none-any.whl is not the pip that was pinned');
  const missing = await new Node().ask('cuda', params);
  expect(missing.error?.what).toBe('pip-26.3-py3-none-any.whl is not the pip that was pinned');
  expect(existsSync(ran)).toBe(false);
  const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex');
  expect((await new Node().ask('cuda', { ...params, pip: pinned(hash) })).result).toEqual({ made: true });
  expect(existsSync(ran)).toBe(true);
});

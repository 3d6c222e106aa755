// trainer prep into a bucket: what lies there is what a folder would hold, and a bucket without
// labels.txt holds nothing whole. The server is ours; it checks signatures by Amazon's rules.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectExit,
  runCli,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  type Outcome,
} from '../../support/harness.js';
import { listening } from '../../support/listening.js';
import { verifySignature } from '../../support/s3Signature.js';

const folder = temporaryFolder('upload');
const images = join(folder.path, 'images');
const shards = join(folder.path, 'shards');
const temporary = join(folder.path, 'tmp');
const objects = new Map<string, Buffer>();
/** Answers before the bucket does; true when it has. */
let before: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
let wrong: string[] = [];
let written: string[] = [];
let server: { port: number; close: () => Promise<void> };

const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (before(request, response)) return;
  const body = Buffer.concat(parts);
  const verdict = verifySignature(request, 'AKIDEXAMPLE', 'secret');
  if ('wrong' in verdict) wrong.push(verdict.wrong);
  if (request.headers['x-amz-content-sha256'] !== sha256(body)) wrong.push('another body');
  const key = request.url ?? '';
  if (request.method === 'PUT') {
    objects.set(key, body);
    written.push(key);
    response.writeHead(200).end();
  } else response.writeHead(objects.has(key) ? 200 : 404).end();
}

beforeAll(async () => {
  mkdirSync(temporary);
  server = await listening(createServer((request, response) => void answer(request, response)));
  expectExit(await runTrainer(['prep', '--from', 'demo:2x20', '--to', images]), 0);
  expectExit(await runTrainer(['prep', '--from', images, '--to', shards, '--shards', '3']), 0);
});
beforeEach(() => {
  objects.clear();
  before = () => false;
  wrong = [];
  written = [];
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const env = (): NodeJS.ProcessEnv => ({
  TMPDIR: temporary,
  no_proxy: '127.0.0.1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL: `http://127.0.0.1:${server.port}`,
});
const words = ['prep', '--from', images, '--to', 's3://mine/a set', '--shards', '3'];
const prep = (all = words): Promise<Outcome> => runTrainer(all, { env: env() });

function expectTheShards(): void {
  expect(wrong).toEqual([]);
  const names = readdirSync(shards);
  expect([...objects.keys()].sort()).toEqual(names.map((name) => `/mine/a%20set/${name}`));
  for (const name of names) {
    const object = objects.get(`/mine/a%20set/${name}`) ?? Buffer.alloc(0);
    expect(object.equals(readFileSync(join(shards, name)))).toBe(true);
  }
  expect(written.at(-1)).toBe('/mine/a%20set/labels.txt');
  expect(readdirSync(temporary)).toEqual([]);
}

describe('a bucket', () => {
  it('has the shards that a folder would have, the labels last', async () => {
    const made = await prep();
    expectExit(made, 0);
    expect(made.stdout).toContain('32 training and 8 validation images of 2 classes in s3://mine/a set');
    expectTheShards();
  });

  it('has them from two ranks of a run', async () => {
    const run = ['run', 'local', '--ranks', '2', '--run-dir', join(folder.path, 'run'), '--'];
    expectExit(await runCli([...run, ...words], { env: env() }), 0);
    expectTheShards();
  });

  it('takes an upload that is longer than the time for which it is tried again', async () => {
    const file = join(folder.path, 'large');
    writeFileSync(file, Buffer.alloc(9 * 2 ** 20, 'x'));
    let refusals = 1;
    before = (_, response) => {
      if (refusals-- <= 0) return false;
      setTimeout(() => response.writeHead(503).end(), 1500);
      return true;
    };
    const order = { url: 's3://mine/large', file, budget: 1, timeout: 10 };
    const program = join(dirname(trainer), '../share/fetch/upload.py');
    const running = start('python3', [program], { env: env(), stdio: ['pipe', 'pipe', 'pipe'] });
    running.child.stdin?.end(JSON.stringify(order));
    expectExit(await running.ended, 0);
    expect(objects.get('/mine/large')?.length).toBe(9 * 2 ** 20);
    expect(running.stdout).toContain('HTTP 503');
  });

  it('that has a set already is left alone', async () => {
    objects.set('/mine/a%20set/labels.txt', Buffer.from('mine'));
    const outcome = await prep();
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain('s3://mine/a set has shards already. Name another place');
    expect(written).toEqual([]);
  });

  it('is tried again where the server has no time, and an answer that it is full ends the work', async () => {
    let refusals = 2;
    before = ({ method }, response) => {
      if (method !== 'PUT' || refusals-- <= 0) return false;
      response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    const slow = await prep();
    expectExit(slow, 0);
    expect(slow.stderr).toContain('HTTP 503');
    expectTheShards();
    objects.clear();
    before = ({ url = '' }, response) => {
      if (!url.includes('validation-00001')) return false;
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      return true;
    };
    const outcome = await prep();
    expectExit(outcome, 3);
    expect(outcome.stderr).toContain('may not be written with key AKIDEXAMPLE (AccessDenied)');
    expect(objects.has('/mine/a%20set/labels.txt')).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each([
    [words.slice(0, -2), 'a bucket takes TFRecord shards only'],
    [['prep', '--from', 'demo:2x20', ...words.slice(3)], 'a bucket takes TFRecord shards only'],
    [words.with(4, 'https://127.0.0.1/x'), 'nothing can be written to https://127.0.0.1/x'],
  ])('refuses %j', async (all, text) => {
    const outcome = await prep(all);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain(text);
  });
});

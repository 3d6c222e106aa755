// Messages about a run that no client follows: to a real server, and by a program.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  cli,
  expectExit,
  readLines,
  readLinesSoFar,
  runCli,
  start,
  temporaryFolder,
  until,
  type Line,
} from '../../support/harness.js';
import { listening, type Listening } from '../../support/listening.js';

const folder = temporaryFolder('notify');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
const secret = '/services/T0SECRET';
const oddName = `déjà "vu" <!channel> & $(id) '; @everyone`;
const run = (name: string): string => join(folder.path, name);
const events = (name: string, kind: string): Line[] => {
  const file = join(run(name), 'events.jsonl');
  return existsSync(file) ? readLinesSoFar(file).filter((line) => line.kind === kind) : [];
};

let server: Listening;
/** What came, by the last part of its address. */
const came: Record<string, Record<string, unknown>[]> = {};
/** How each address answers: its n-th request with the n-th code, 0 for never. */
const codes: Record<string, number[]> = {
  good: [200],
  later: [500, 503, 204],
  gone: [404],
  elsewhere: [302],
  hangs: [0, 200],
};

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const part of request) text += String(part);
  return JSON.parse(text) as Record<string, unknown>;
}

/** A file with an address, which nobody else can read. */
function addressFile(name: string, address: string, mode = 0o600): string {
  const path = join(folder.path, `${name}.address`);
  writeFileSync(path, `${address}\n`);
  chmodSync(path, mode);
  return path;
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const answering = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const name = request.url?.split('/').at(-1) ?? '';
      const all = (came[name] ??= []);
      all.push({ ...body, sentAs: `${request.method} ${request.headers['content-type']}` });
      const answers = codes[name] ?? [];
      const code = answers[Math.min(all.length, answers.length) - 1] ?? 200;
      if (code !== 0) response.writeHead(code, { location: 'http://127.0.0.1:1/x' }).end('{}');
    });
  });
  server = await listening(answering);
  const base = `http://127.0.0.1:${server.port}${secret}`;
  const webhook = (name: string): object => ({ webhookFile: addressFile(name, `${base}/${name}`) });
  const program = join(folder.path, 'tell');
  writeFileSync(program, '#!/bin/sh\ncat > "$1.stdin"\nenv -0 > "$1.env"\n', { mode: 0o755 });
  const notify: Record<string, object> = {
    good: { ...webhook('good'), command: [program, join(folder.path, 'told')] },
    later: { ...webhook('later'), on: ['finished'] },
    gone: webhook('gone'),
    elsewhere: webhook('elsewhere'),
    hangs: webhook('hangs'),
    refused: { webhookFile: addressFile('refused', `http://127.0.0.1:1${secret}`) },
    shown: { webhookFile: addressFile('shown', `${base}/shown`, 0o644) },
    odd: { webhookFile: addressFile('odd', `http://127.0.0.1:1x${secret}`) },
    absent: { command: ['/no/such/program'] },
    fails: { command: ['sh', '-c', 'echo it said; exit 3'] },
    restarts: webhook('restarts'),
    budget: webhook('budget'),
  };
  const profiles = Object.entries(notify).map(([name, value]) => ({
    ...{ name, kind: 'local', workdir: join(folder.path, 'work'), notify: value },
    ...(name === 'restarts' ? { maxRestarts: 1, silenceTimeout: 3 } : {}),
    ...(name === 'budget' ? { pricePerNodeHour: 3600, budget: 3 } : {}),
  }));
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** Everything below a run's folder, as text. */
function textsOf(dir: string): string {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
  return files
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

it('tells of the end of a run whose client was killed, by both ways, and keeps the address', async () => {
  const words = ['run', 'good', '--run-dir', run('good'), '--name', oddName, '--', 'sh', '-c', 'sleep 4'];
  const client = start(process.execPath, [cli, ...words], options);
  await until('the start of the program', () => events('good', 'rank_started').length > 0, 60);
  client.child.kill('SIGKILL');
  await client.ended;
  await until('the message', () => (came['good']?.length ?? 0) > 0, 60);
  await until('the program', () => existsSync(join(folder.path, 'told.env')), 30);
  const text = expect.stringMatching(/^déjà "vu" .* on good finished after \d+ s$/) as string;
  expect(came['good']).toEqual([
    expect.objectContaining({
      ...{ kind: 'finished', name: oddName, profile: 'good', status: 'finished', exit_code: 0 },
      ...{ folder: run('good'), generation: 1, reason: null, sentAs: 'POST application/json' },
      text: expect.stringContaining('&lt;!channel&gt; &amp; $(id)') as string,
      content: text,
      allowed_mentions: { parse: [] },
    }),
  ]);
  const onStdin = JSON.parse(readFileSync(join(folder.path, 'told.stdin'), 'utf8')) as object;
  expect(onStdin).toMatchObject({ kind: 'finished', name: oddName, text });
  const env = readFileSync(join(folder.path, 'told.env'), 'utf8').split('\0');
  for (const line of [`TRAINYARD_NAME=${oddName}`, 'TRAINYARD_STATUS=finished', 'TRAINYARD_REASON='])
    expect(env).toContain(line);
  expect(env.some((line) => line.includes('TRAINYARD_NOTICE'))).toBe(false);
  expect(events('good', 'notify_failed')).toEqual([]);
  expect(textsOf(run('good'))).not.toContain(secret);
});

it('tries again after an answer of 5xx and after none, and not after others', async () => {
  const names = ['later', 'gone', 'elsewhere', 'hangs', 'refused'];
  for (const name of names) {
    const words = ['run', name, '--detach', '--run-dir', run(name), '--', 'true'];
    expectExit(await runCli(words, options), 0);
  }
  await until('the third try', () => came['later']?.length === 3, 60);
  await until('the second try', () => came['hangs']?.length === 2, 60);
  const failures = ['gone', 'elsewhere', 'refused'];
  const reasons = await until(
    'the failures',
    () => {
      const told = failures.map((name) => events(name, 'notify_failed')[0]?.['reason']);
      return told.every((reason) => reason !== undefined) ? told : undefined;
    },
    90,
  );
  expect(reasons).toEqual([
    expect.stringContaining('gone.address: it answered 404. Correct the file'),
    expect.stringContaining('it answered 302'),
    expect.stringContaining('Connection refused, 4 times'),
  ]);
  expect([came['gone']?.length, came['elsewhere']?.length]).toEqual([1, 1]);
  for (const name of names) {
    const state = JSON.parse(readFileSync(join(run(name), 'state.json'), 'utf8')) as object;
    expect(state).toMatchObject({ phase: 'finished', exitCode: 0 });
    expect(textsOf(run(name))).not.toContain(secret);
  }
  for (const name of ['later', 'hangs']) expect(events(name, 'notify_failed')).toEqual([]);
});

it('says what failed, and the run is as good as ever', async () => {
  const expected = {
    shown: /others can read .*shown\.address, .*chmod 600/,
    odd: /^the address in .*odd\.address: the address is none\. Correct the file/,
    absent: /^\/no\/such\/program cannot be started: No such file or directory\. Correct/,
    fails: /^sh ended with exit code 3\. What it said is in logs\/notify\.log$/,
  };
  for (const [name, reason] of Object.entries(expected)) {
    expectExit(await runCli(['run', name, '--run-dir', run(name), '--', 'true'], options), 0);
    const failed = await until('the event', () => events(name, 'notify_failed')[0], 30);
    expect(failed).toMatchObject({ of: 'finished', reason: expect.stringMatching(reason) as string });
  }
  expect(readFileSync(join(run('fails'), 'logs/notify.log'), 'utf8')).toContain('it said\n');
  expect(came['shown']).toBeUndefined();
  expect(textsOf(run('odd')) + textsOf(run('shown'))).not.toContain(secret);
});

it('tells of silence, a restart and a failure', async () => {
  const words = ['--detach', '--run-dir', run('restarts'), '--', 'sh', '-c', 'echo begun; sleep 600'];
  expectExit(await runCli(['run', 'restarts', ...words], options), 0);
  await until('the last message', () => came['restarts']?.some(({ kind }) => kind === 'failed'), 90);
  const kinds = came['restarts']?.map(({ kind }) => kind);
  expect(kinds?.toSorted()).toEqual(['failed', 'restarting', 'stalled', 'stalled']);
  const restarting = came['restarts']?.find(({ kind }) => kind === 'restarting');
  expect(restarting).toMatchObject({ restarts_left: 0, status: 'running', generation: 1 });
  expect(restarting?.['content']).toMatch(/is started again \(0 more restarts allowed\): no rank wrote/);
  expect(readLines(join(run('restarts'), 'events.jsonl')).at(-1)?.kind).toBe('finished');
});

it('tells of a budget', async () => {
  const words = ['run', 'budget', '--run-dir', run('budget'), '--', 'sleep', '5'];
  expectExit(await runCli(words, options), 0);
  const spent = await until(
    'both messages',
    () => {
      const all = came['budget']?.filter(({ kind }) => kind === 'budget') ?? [];
      return all.length === 2 ? all.find((body) => body['spent']) : undefined;
    },
    30,
  );
  expect(spent).toMatchObject({ status: 'running', amount: 3, currency: 'USD', stops: false });
  expect(spent['content']).toMatch(/on budget has spent 3\.\d\d of 3\.00 USD of its budget$/);
});

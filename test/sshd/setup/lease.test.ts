// Who may put programs into a folder that several nodes see: the set-up program itself, asked by
// its own protocol. Makers on another host are those whose files say so.
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureStrace } from '../../../scripts/test/strace.mjs';
import { LineFramer } from '../../../src/core/streams/framing.js';
import { program, pythonWords } from '../support/setUpProgram.js';

const folder = mkdtempSync(join(tmpdir(), 'trainyard-lease-'));
const agent = randomBytes(200_000);
const other = 'gpu9-0123abcd-77-1';
let node: string;
let target: string;
let count = 0;
const running: SetUp[] = [];
beforeEach(() => {
  node = join(folder, String(count++), 'node');
  target = join(node, 'x');
  mkdirSync(node, { recursive: true });
});
afterEach(() => {
  for (const one of running.splice(0)) one.kill();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Makers of other hosts are given so many seconds here. */
const silence = 3;

interface Line {
  send?: boolean;
  progress?: string;
  result?: { made?: boolean };
  error?: { what: string; hint: string };
}

class SetUp {
  private readonly framer = new LineFramer(1 << 20);
  private readonly lines: Line[] = [];
  readonly child: ChildProcessWithoutNullStreams;

  constructor(before: readonly string[] = []) {
    const quick = program
      .replace('SILENCE = 30 ', `SILENCE = ${silence} `)
      .replace('BEAT = 5 ', 'BEAT = 0.5 ');
    if (quick.length === program.length) throw new Error('the limits were not found in the program');
    this.child = spawn('env', [...before, 'python3', ...pythonWords(quick)]);
    this.child.stdout.on('data', (chunk: Buffer) => {
      for (const line of this.framer.push(chunk)) this.lines.push(JSON.parse(line.toString()) as Line);
    });
    running.push(this);
  }

  install(): void {
    const sha256 = createHash('sha256').update(agent).digest('hex');
    const files = [{ name: 'bin/agent', bytes: agent.length, sha256, executable: true }];
    this.ask({ op: 'install', params: { dir: target, files } });
  }

  ask(request: object): void {
    this.child.stdin.write(`${JSON.stringify(request)}\n`);
  }

  give(): void {
    this.child.stdin.write(agent);
  }

  /** The first line of this kind. */
  async next(kind: keyof Line): Promise<Line> {
    await expect.poll(() => this.lines.some((line) => kind in line), { timeout: 30_000 }).toBe(true);
    return this.lines.splice(0, this.lines.findIndex((line) => kind in line) + 1).at(-1) ?? {};
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

const made = (): boolean => readFileSync(join(target, 'bin', 'agent')).equals(agent);
const claim = (maker: string, sign: number): void => {
  writeFileSync(join(node, '.x.maker'), `${maker} ${String(sign).padStart(12, '0')}\n`);
};

describe('a maker', () => {
  it('is alone: another waits, says for whom, and finds it made', async () => {
    const [first, second] = [new SetUp(), new SetUp()];
    first.install();
    await first.next('send');
    second.install();
    expect((await second.next('progress')).progress).toMatch(/^waiting for \S+ to put the programs there$/);
    first.give();
    expect((await first.next('result')).result).toEqual({ made: true });
    expect((await second.next('result')).result).toEqual({ made: false });
    expect(made()).toBe(true);
    expect(readdirSync(node)).toEqual(['x']);
  });

  it('that is killed on this host is followed at once, and what it left is removed', async () => {
    const [first, second] = [new SetUp(), new SetUp()];
    first.install();
    await first.next('send');
    first.kill();
    second.install();
    await second.next('send');
    second.give();
    await second.next('result');
    expect(readdirSync(node)).toEqual(['x']);
  });

  it('that dies on another host is followed after its silence, and what it left is removed', async () => {
    claim(other, 5);
    mkdirSync(join(node, `.x.partial-${other}`));
    const started = Date.now();
    const setUp = new SetUp();
    setUp.install();
    await setUp.next('send');
    expect(Date.now() - started).toBeGreaterThan(silence * 1000);
    setUp.give();
    await setUp.next('result');
    expect(readdirSync(node)).toEqual(['x']);
  });

  it('that lives on another host is waited for as long as it gives signs', async () => {
    claim(other, 1);
    const setUp = new SetUp();
    setUp.install();
    expect((await setUp.next('progress')).progress).toBe('waiting for gpu9 to put the programs there');
    for (let sign = 2; sign < 8; ++sign) {
      await new Promise((wake) => setTimeout(wake, (silence * 1000) / 3));
      claim(other, sign);
    }
    expect(readFileSync(join(node, '.x.maker'), 'utf8')).toContain(other);
    rmSync(join(node, '.x.maker'));
    await setUp.next('send');
  });

  it('leaves what others may still be at, but not of a day ago', async () => {
    const [living, forgotten] = [`.x.partial-${other}`, '.x.partial-gpu8-0123abcd-3-4'];
    for (const name of [living, forgotten]) mkdirSync(join(node, name));
    const longAgo = Date.now() / 1000 - 2 * 24 * 3600;
    utimesSync(join(node, forgotten), longAgo, longAgo);
    const setUp = new SetUp();
    setUp.install();
    await setUp.next('send');
    setUp.give();
    await setUp.next('result');
    expect(readdirSync(node).sort()).toEqual([living, 'x']);
  });
});

describe('a folder', () => {
  it.each([
    [
      'without an agent',
      () => {
        rmSync(join(target, 'bin', 'agent'));
      },
    ],
    [
      'whose agent is cut short',
      () => {
        truncateSync(join(target, 'bin', 'agent'), 1000);
      },
    ],
    [
      'whose agent is another',
      () => {
        writeFileSync(join(target, 'bin', 'agent'), Buffer.alloc(agent.length));
      },
    ],
  ])('%s is not taken for whole', async (_, damage) => {
    const setUp = new SetUp();
    setUp.install();
    await setUp.next('send');
    setUp.give();
    await setUp.next('result');
    damage();
    setUp.install();
    await setUp.next('send');
    setUp.give();
    expect((await setUp.next('result')).result).toEqual({ made: true });
    expect(made()).toBe(true);
    expect(readdirSync(node)).toEqual(['x']);
  });

  it('is on the disk before its name says that it is whole', async () => {
    const { program: strace, env } = ensureStrace();
    const calls = 'trace=fsync,syncfs,rename,renameat,renameat2';
    const trace = join(folder, 'trace');
    const setUp = new SetUp([
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      strace,
      '-f',
      '-e',
      calls,
      '-o',
      trace,
    ]);
    setUp.install();
    await setUp.next('send');
    setUp.give();
    await setUp.next('result');
    const text = readFileSync(trace, 'utf8');
    const order = text
      .split('\n')
      .flatMap((line) => /\b(fsync|syncfs|rename)\w*\(.*= 0/.exec(line)?.[1] ?? []);
    expect(order.join(' ')).toMatch(/fsync .*syncfs .*rename .*fsync/);
  });
});

describe('a request', () => {
  it.each([
    [{ op: 'nonsense' }, /'nonsense' is nothing that it can do/],
    [{ op: 'look', params: {} }, /^look failed: KeyError: 'paths'/],
    [{ op: 'list', params: { path: 7 } }, /^list failed: TypeError/],
    [{ params: {} }, /None is nothing/],
  ])('%j that it cannot do is answered in a line, and the next one is done', async (request, expected) => {
    const setUp = new SetUp();
    setUp.ask(request);
    const { error } = await setUp.next('error');
    expect(error?.what).toMatch(expected);
    expect(error?.hint).toBe('Report this with the log');
    setUp.ask({ op: 'look', params: { paths: ['/'] } });
    expect((await setUp.next('result')).result).toEqual({ found: ['folder'] });
  });
});

it('what is looked at in a runtime is not taken for whole when a file of it is empty', () => {
  const runtime = join(folder, 'runtime');
  for (const name of ['bin', 'lib']) mkdirSync(join(runtime, name), { recursive: true });
  const wanted = ['bin/python', 'bin/mpiexec', 'lib/libmpi.so.12', 'lib/libdnnl.so.3'];
  for (const name of wanted) writeFileSync(join(runtime, name), 'x');
  const whole = `${program.replace(/main\(\)\s*$/, '')}\nprint(runtime_problem(sys.argv[1]))`;
  const ask = (): string =>
    spawnSync('python3', [...pythonWords(whole), runtime], { encoding: 'utf8' }).stdout.trim();
  expect(ask()).toBe('None');
  truncateSync(join(runtime, 'lib/libmpi.so.12'), 0);
  expect(ask()).toBe('lib/libmpi.so.12');
});

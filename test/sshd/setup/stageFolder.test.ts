// A folder of a node that other users may write to, or whose disk is nearly full: the set-up
// program stages there, asked by its own protocol.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program, pythonWords } from '../support/setUpProgram.js';

const root = process.getuid?.() === 0;
const stranger = 64103;
const dir = mkdtempSync(join(tmpdir(), 'trainyard-stage-folder-'));
const key = randomBytes(32).toString('hex');
let from: string;
let to: string;
let record: string;
let count = 0;
const running: SetUp[] = [];
const mounted: string[] = [];

interface Plan {
  state: string;
  files: number;
}
interface Listed {
  tree: string;
  first: string;
  mark: unknown;
}

class SetUp {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(before = '') {
    const words = pythonWords(`${before}\n${program}`);
    this.child = spawn('python3', words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
    running.push(this);
  }

  async ask<Result>(op: string, params: object): Promise<Result> {
    this.child.stdin!.write(`${JSON.stringify({ op, params })}\n`);
    for (;;) {
      const { value } = (await this.lines.next()) as { value: string };
      const answer = JSON.parse(value) as { result?: Result; error?: { what: string } };
      if (answer.error) throw new Error(answer.error.what);
      if (answer.result) return answer.result; // all else is a sign of life
    }
  }

  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

/** `before`: what the program of the node does first. Returns what the node lacked. */
async function stage({ replace = false, keep = true, before = '' } = {}): Promise<Plan> {
  const [source, node] = [new SetUp(), new SetUp(before)];
  const { tree, first, mark } = await source.ask<Listed>('stage-list', { from });
  const place = { key, address: '127.0.0.1', firstPort: 47000, lastPort: 47099 };
  const { port } = await source.ask<{ port: number }>('stage-offer', place);
  const givers = [{ host: '127.0.0.1', port }];
  const params = { tree, first, mark, keep, replace, key, to, verify: false, from: givers };
  const plan = await node.ask<Plan>('stage-plan', params);
  await node.ask('stage-get', params);
  return plan;
}

function put(folder: string, name: string, data: string | Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), data);
}

/** A line of the record, for the file at `path`. */
function fileLine(name: string, path: string): string {
  const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `["f",${JSON.stringify(name)},${size},${mtimeNs},${ctimeNs},${mtimeNs},"${'00'.repeat(32)}"]\n`;
}

/** What the record says while this file of the source is not whole. */
function partialLines(name: string): string {
  const { size, mtimeNs, ctimeNs } = statSync(join(from, name), { bigint: true });
  return `["o"]\n["p",${JSON.stringify(name)},${size},${mtimeNs},${ctimeNs}]\n`;
}

beforeEach(() => {
  const own = join(dir, String(count++));
  [from, to] = [join(own, 'from'), join(own, 'to')];
  record = join(to, '.trainyard-stage');
  mkdirSync(from, { recursive: true });
  mkdirSync(to);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end()));
  for (const folder of mounted.splice(0)) execFileSync('umount', [folder]);
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('a folder that others may write to', () => {
  it.each(['.trainyard-stage.new', '.trainyard-stage.partial', '.trainyard-stage.link', '.trainyard-stage'])(
    'does not lead out by a link %s',
    async (name) => {
      put(from, 'file', 'file');
      symlinkSync('file', join(from, 'link'));
      put(dir, 'keys', 'of the user');
      symlinkSync(join(dir, 'keys'), join(to, name));
      await stage();
      expect(readFileSync(join(dir, 'keys'), 'utf8')).toBe('of the user');
      expect(lstatSync(record).isFile()).toBe(true);
      expect(lstatSync(record).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(to, 'file'), 'utf8')).toBe('file');
    },
  );

  const kinds: [string, () => void][] = [
    [
      'another user’s file',
      (): void => {
        chownSync(record, stranger, stranger);
      },
    ],
    [
      'a file that others may write',
      (): void => {
        chmodSync(record, 0o660);
      },
    ],
    [
      'a link',
      () => {
        renameSync(record, join(to, 'other'));
        symlinkSync('other', record);
      },
    ],
    [
      'no file',
      () => {
        unlinkSync(record);
        execFileSync('mkfifo', ['-m', '600', record]);
      },
    ],
  ];
  it.runIf(root).each(kinds)('has no record where that is %s', async (_, change) => {
    put(from, 'stays', 'stays');
    put(from, 'gone', 'gone');
    await stage();
    rmSync(join(from, 'gone'));
    change();
    await expect(stage()).rejects.toThrow('stays was there before, and not from a stage of yours');
    await stage({ replace: true });
    expect(readFileSync(join(to, 'gone'), 'utf8')).toBe('gone');
    expect(lstatSync(record)).toMatchObject({ uid: 0, nlink: 1 });
    expect(lstatSync(record).mode).toBe(0o100600);
    expect(readFileSync(record, 'utf8')).not.toContain('gone');
    put(from, 'later', 'later');
    await stage(); // it is the user's own again
  });

  it('does not take up parts that others could write', async () => {
    const parts = Buffer.alloc(9_000_000, 'a part, ');
    put(from, 'shard', parts);
    await delay(2100);
    writeFileSync(record, partialLines('shard'), { mode: 0o600 });
    put(to, '.trainyard-stage.partial', Buffer.alloc(8_500_000, 'no part, '));
    chmodSync(`${record}.partial`, 0o666);
    await stage();
    expect(readFileSync(join(to, 'shard')).equals(parts)).toBe(true);
  });

  it('has no file removed that the record names elsewhere', async () => {
    put(from, 'file', 'file');
    put(dir, 'outside/file', 'outside');
    mkdirSync(join(dir, 'outside/empty'));
    const outside = join(dir, 'outside');
    symlinkSync('nowhere', join(outside, 'link'));
    for (const way of [outside, '../../outside', './../../outside', 'sub/../../../outside']) {
      mkdirSync(join(to, 'sub'), { recursive: true });
      const folder = `["d","${way}/empty"]\n["l","${way}/link","nowhere"]\n`;
      writeFileSync(record, folder + fileLine(`${way}/file`, join(outside, 'file')), { mode: 0o600 });
      await stage({ replace: true });
      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('outside');
      expect(existsSync(join(outside, 'empty'))).toBe(true);
      expect(readlinkSync(join(outside, 'link'))).toBe('nowhere');
    }
  });

  it('has no file removed behind a link', async () => {
    put(from, 'sub/gone', 'gone');
    put(from, 'file', 'file');
    await stage();
    cpSync(join(to, 'sub'), join(dir, 'behind'), { recursive: true, preserveTimestamps: true });
    execFileSync('touch', ['-r', join(to, 'sub/gone'), join(dir, 'behind/gone')]);
    rmSync(join(to, 'sub'), { recursive: true });
    symlinkSync(join(dir, 'behind'), join(to, 'sub'));
    rmSync(join(from, 'sub'), { recursive: true });
    await stage();
    expect(readFileSync(join(dir, 'behind/gone'), 'utf8')).toBe('gone');
  });

  it.runIf(root)('has a record where the disk gives all files one owner, who is another', async () => {
    put(from, 'file', 'file');
    await delay(2100);
    const before = `import os; os.setreuid(${stranger}, 0)`; // what it makes belongs to root
    expect(await stage({ before })).toMatchObject({ state: 'lacks', files: 1 });
    expect(await stage({ before })).toMatchObject({ state: 'whole', files: 0 });
  });
});

describe.runIf(root)('a small disk', () => {
  const mb = (count: number): Buffer => Buffer.alloc(count * 1e6, 'some bytes of a shard, ');
  const mount = (): void => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=36000000', 'none', to]);
    mounted.push(to);
  };

  it('has room for the rest of a file of which parts are there', async () => {
    mount();
    const shard = mb(34);
    put(from, 'shard', shard);
    await delay(2100);
    const mode = 0o600;
    writeFileSync(record, partialLines('shard'), { mode });
    writeFileSync(`${record}.partial`, shard.subarray(0, 27_000_000), { mode });
    const { ino } = statSync(`${record}.partial`);
    await stage();
    expect(readFileSync(join(to, 'shard')).equals(shard)).toBe(true);
    expect(statSync(join(to, 'shard')).ino).toBe(ino);
  });

  it('has room for what takes the place of files that are gone, but not of those with another name', async () => {
    mount();
    put(from, 'one/1', mb(20));
    await stage();
    for (const name of ['two', 'three']) {
      rmSync(from, { recursive: true });
      put(from, `${name}/1`, mb(20));
      if (name === 'three') linkSync(join(to, 'two/1'), join(to, 'kept'));
      const staged = stage();
      if (name === 'two') await staged;
      else await expect(staged).rejects.toThrow(/needs 20\.\d MB, and its disk has 1\d\.\d MB free/);
      expect(existsSync(join(to, 'two/1'))).toBe(true);
      expect(existsSync(join(to, 'one'))).toBe(false);
    }
  });

  it('has no room by files of the record that somebody removed', async () => {
    mount();
    for (const name of ['1', '2', '3']) put(from, name, mb(8));
    await stage();
    for (const name of ['1', '2', '3']) rmSync(join(to, name));
    put(to, 'of somebody', mb(20));
    await expect(stage()).rejects.toThrow(/needs 24\.\d MB, and its disk has 1\d\.\d MB free/);
    expect(existsSync(join(to, '1'))).toBe(false);
  });

  it('has room for one more while files are replaced one by one, also without a record', async () => {
    mount();
    for (const name of ['1', '2']) put(from, name, mb(11));
    await stage();
    for (const name of ['1', '2']) put(from, name, mb(12));
    await stage();
    for (const name of ['1', '2']) put(from, name, mb(11).fill('other '));
    await stage({ keep: false });
    expect(readFileSync(join(to, '2'), 'latin1').slice(0, 12)).toBe('other other ');
  });
});

it('has links in a folder from elsewhere lead to their files', async () => {
  const more = join(dirname(from), 'more');
  put(from, 'train/1.jpg', 'one');
  put(more, 'deep/2.jpg', 'two');
  symlinkSync(more, join(from, 'extra'));
  symlinkSync(join(from, 'train/1.jpg'), join(more, 'a.jpg'));
  symlinkSync(join(from, 'train'), join(more, 'deep/all'));
  symlinkSync('deep/2.jpg', join(more, 'b.jpg')); // elsewhere too, so it becomes a file
  await stage();
  expect(readlinkSync(join(to, 'extra/a.jpg'))).toBe('../train/1.jpg');
  expect(readFileSync(join(to, 'extra/a.jpg'), 'utf8')).toBe('one');
  expect(readFileSync(join(to, 'extra/deep/all/1.jpg'), 'utf8')).toBe('one');
  expect(readFileSync(join(to, 'extra/b.jpg'), 'utf8')).toBe('two');
  expect(lstatSync(join(to, 'extra/b.jpg')).isFile()).toBe(true);
});

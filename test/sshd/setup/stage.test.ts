// A folder of the head on three nodes' own disks: read once, passed on from node to node, and gone on
// with where it was left.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { Progress } from '../../../src/core/base/progress.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { stageSpec } from '../../../src/core/stage/spec.js';
import type { Staged } from '../../../src/core/stage/staging.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const root = process.getuid?.() === 0;
const dir = mkdtempSync(join(tmpdir(), 'trainyard-stage-'));
const images = join(dir, 'images');
let cluster: TestCluster;
let machine: SshMachine;

const put = (folder: string, name: string, data: string | Buffer): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), data);
};
const big = Buffer.alloc(9_000_000, 'some bytes of a shard, ');
const oddName = Buffer.from('odd \n \xff.jpg', 'latin1');
const odd = (folder: string): Buffer => Buffer.concat([Buffer.from(`${folder}/b/`), oddName]);
const homes = (): string[] => cluster.practice.nodes.map(({ home }) => home);
const stage = (
  from: string,
  to: string,
  options: Parameters<SshMachine['stage']>[2] = {},
  progress: Progress = {},
): Promise<Staged> => machine.stage(cluster.profile, stageSpec({ from, to }), options, progress);
const got = ({ nodes }: Staged): number[] => nodes.map(({ files }) => files);

/** Names of all but the record, links not followed. */
const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'latin1' })
    .filter((name) => name !== '.trainyard-stage')
    .sort();

beforeAll(async () => {
  put(images, 'a/1.jpg', 'one');
  put(images, 'a/2.jpg', 'two');
  put(images, 'b/big', big);
  put(images, 'b/empty', '');
  writeFileSync(odd(images), 'odd');
  execFileSync('chmod', ['755', join(images, 'a/2.jpg')]);
  mkdirSync(join(images, 'none'));
  put(dir, 'elsewhere/3.jpg', 'three');
  symlinkSync('../a/1.jpg', join(images, 'b/inside'));
  symlinkSync(join(dir, 'elsewhere'), join(images, 'outside'));
  symlinkSync(images, join(dir, 'elsewhere/back'));
  symlinkSync('/nowhere', join(images, 'broken'));
  cluster = await testCluster(dir, { nodes: 3 });
  machine = cluster.machine();
  await delay(2100); // a file that was changed a moment ago is sent once more
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

function sameOn(home: string): void {
  const to = join(home, 'images');
  expect(namesIn(to)).toEqual(
    [
      'a',
      'a/1.jpg',
      'a/2.jpg',
      'b',
      'b/big',
      'b/empty',
      'b/inside',
      `b/${oddName.toString('latin1')}`,
    ].concat(['none', 'outside', 'outside/3.jpg']),
  );
  expect(readFileSync(join(to, 'b/big')).equals(big)).toBe(true);
  expect(readFileSync(odd(to), 'utf8')).toBe('odd');
  expect(readlinkSync(join(to, 'b/inside'))).toBe('../a/1.jpg');
  expect(readFileSync(join(to, 'outside/3.jpg'), 'utf8')).toBe('three');
  expect(statSync(join(to, 'a/2.jpg')).mode & 0o777).toBe(0o755);
  expect(statSync(join(to, 'a/2.jpg')).mtimeMs).toBeCloseTo(statSync(join(images, 'a/2.jpg')).mtimeMs, 0);
}

it('comes to all nodes as it is, and leaves its source once', async () => {
  const staged = await stage(images, '~/images');
  expect(got(staged)).toEqual([6, 6, 6]);
  expect(staged.leftOut.sort()).toEqual(['broken', 'outside/back']);
  for (const home of homes()) sameOn(home);
  expect(staged.fromSource).toBeGreaterThan(big.length);
  expect(staged.fromSource).toBeLessThan(big.length * 1.1);
});

it('is not sent again', async () => {
  const staged = await stage(images, '~/images');
  expect(got(staged)).toEqual([0, 0, 0]);
  expect(staged.fromSource).toBeLessThan(10_000);
});

it('finds what has changed, also with the size and time of before, and on one node alone', async () => {
  const [, second = '', third = ''] = homes();
  const one = join(images, 'a/1.jpg');
  const { atime, mtime } = statSync(one);
  writeFileSync(one, 'eno');
  utimesSync(one, atime, mtime);
  appendFileSync(join(third, 'images/a/2.jpg'), 'x');
  unlinkSync(join(second, 'images/b/big'));
  expect(got(await stage(images, '~/images'))).toEqual([1, 2, 2]);
  await delay(2100);
  expect(got(await stage(images, '~/images'))).toEqual([1, 1, 1]); // it was changed a moment before
  for (const home of homes()) {
    expect(readFileSync(join(home, 'images/a/1.jpg'), 'utf8')).toBe('eno');
    sameOn(home);
  }
});

it('finds bytes that the disk changed, when it is told to read all', async () => {
  const [, second = ''] = homes();
  const path = join(second, 'images/b/big');
  const { atime, mtime } = statSync(path);
  execFileSync('python3', [
    '-c',
    'import os,sys; t=os.stat(sys.argv[1]); f=open(sys.argv[1],"r+b"); f.seek(5000000); f.write(b"X"); f.close(); os.utime(sys.argv[1], ns=(t.st_atime_ns, t.st_mtime_ns))',
    path,
  ]);
  expect(statSync(path)).toMatchObject({ atime, mtime });
  expect(got(await stage(images, '~/images'))).toEqual([0, 0, 0]);
  expect(got(await stage(images, '~/images', { verify: true }))).toEqual([0, 1, 0]);
  sameOn(second);
});

it('removes what an earlier stage put there, and nothing else', async () => {
  const [first = '', second = ''] = homes();
  const from = join(dir, 'shrinking');
  for (const name of ['keep', 'gone/1', 'gone/2', 'mine/1', 'file']) put(from, name, name);
  await stage(from, '~/shrinking');
  put(first, 'shrinking/mine/own', 'own');
  writeFileSync(join(second, 'shrinking/gone/1'), 'changed by somebody');
  rmSync(join(from, 'gone'), { recursive: true });
  rmSync(join(from, 'mine'), { recursive: true });
  rmSync(join(from, 'file'));
  put(from, 'file/now a folder', 'x');
  await stage(from, '~/shrinking');
  expect(namesIn(join(first, 'shrinking'))).toEqual([
    'file',
    'file/now a folder',
    'keep',
    'mine',
    'mine/own',
  ]);
  expect(namesIn(join(second, 'shrinking'))).toEqual(['file', 'file/now a folder', 'gone', 'gone/1', 'keep']);
});

it('does not write over what was there before, unless it is told to, nor through a link', async () => {
  const [, second = ''] = homes();
  put(second, 'mine/a/1.jpg', 'my own');
  await expect(stage(images, '~/mine')).rejects.toThrow(
    'mine/a/1.jpg was there before, and not from a stage of yours',
  );
  expect(readFileSync(join(second, 'mine/a/1.jpg'), 'utf8')).toBe('my own');
  await stage(images, '~/mine', { replace: true });
  expect(readFileSync(join(second, 'mine/a/1.jpg'), 'utf8')).toBe('eno');
  mkdirSync(join(second, 'linked'));
  symlinkSync(dir, join(second, 'linked/a'));
  await expect(stage(images, '~/linked')).rejects.toThrow('is a link or no folder');
});

/** The set-up programs of one node. */
function programsOf(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
        const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
        return environment.includes(`HOME=${home}`) && words.includes('\0-ISc\0');
      } catch {
        return false; // it ended meanwhile, or is another's
      }
    })
    .map(Number);
}

it('goes on where it was when a node was killed in the middle, whose successor asks another', async () => {
  const [first = '', second = '', third = ''] = homes();
  const from = join(dir, 'shards');
  const shards = ['0', '1', '2', '3'].map((name) => join(from, name));
  mkdirSync(from);
  for (const [index, path] of shards.entries()) {
    writeFileSync(path, `shard ${index}`);
    truncateSync(path, 40_000_000);
  }
  await delay(2100);
  let programs: number[] = [];
  const onProgress = (text: string): void => {
    if (text.startsWith('comparing')) programs = programsOf(second);
  };
  let killed = false;
  const looking = setInterval(() => {
    if (killed || !existsSync(join(second, 'shards/0'))) return;
    killed = true;
    for (const pid of programs) process.kill(pid, 'SIGKILL');
  }, 2);
  await expect(stage(from, '~/shards', {}, { onProgress })).rejects.toThrow(/127\.0\.0\.3/);
  clearInterval(looking);
  expect(killed).toBe(true);
  for (const home of [first, third]) expect(namesIn(join(home, 'shards'))).toEqual(['0', '1', '2', '3']);
  const whole = namesIn(join(second, 'shards')).filter((name) => !name.startsWith('.'));
  expect(whole.length).toBeLessThan(4);
  for (const name of whole)
    expect(readFileSync(join(second, 'shards', name)).equals(readFileSync(join(from, name)))).toBe(true);
  const staged = await stage(from, '~/shards');
  expect(got(staged)).toEqual([0, 4 - whole.length, 0]);
  expect(staged.fromSource).toBeLessThan(10_000); // the head has it
  expect(namesIn(join(second, 'shards'))).toEqual(['0', '1', '2', '3']);
  expect(readFileSync(join(second, 'shards/3')).equals(readFileSync(join(from, '3')))).toBe(true);
});

it('comes to a disk that all nodes see, whichever of them is the first to write there', async () => {
  const [first = '', second = ''] = homes();
  const scratch = join(dir, 'scratch');
  const lease = join(scratch, '.trainyard-stage.maker');
  const maker = (): string => (existsSync(lease) ? readFileSync(lease, 'utf8') : '');
  // Another host is at it until all nodes wait. Then the second takes over: the first is stopped.
  put(scratch, '.trainyard-stage.maker', 'gpu9-0123abcd-77-1 000000000001\n');
  const said: string[] = [];
  let atFirst: number[] = [];
  const onProgress = (text: string): void => {
    said.push(text);
    if (said.filter((line) => line.includes('waiting for gpu9')).length < 3 || atFirst.length > 0) return;
    atFirst = programsOf(first);
    for (const pid of [...atFirst, ...programsOf(homes()[2] ?? '')]) process.kill(pid, 'SIGSTOP');
    unlinkSync(lease);
  };
  const staged = stage(images, scratch, {}, { onProgress, signal: AbortSignal.timeout(20_000) });
  const looking = setInterval(() => {
    if (!programsOf(second).some((pid) => maker().includes(`-${pid}-`))) return;
    for (const pid of [...atFirst, ...programsOf(homes()[2] ?? '')]) process.kill(pid, 'SIGCONT');
  }, 50);
  await staged.finally(() => {
    clearInterval(looking);
  });
  expect(said).toContain('127.0.0.2: waiting for 127.0.0.3 to put the data there');
  expect(readFileSync(join(scratch, 'b/big')).equals(big)).toBe(true);
  expect(got(await stage(images, scratch))).toEqual([0, 0, 0]);
});

it('takes up a file of which parts had come, and sends the rest of it alone', async () => {
  const [, second = ''] = homes();
  const from = join(dir, 'one');
  put(from, 'shard', big);
  await delay(2100);
  await stage(from, '~/one', { hosts: ['127.0.0.2'] });
  const [name = '', size = 0, modified = 0, changed = 0] =
    readFileSync(join(homes()[0] ?? '', 'one/.trainyard-stage'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('["f"'))
      .map((line) => /^\["f","([^"]*)",(\d+),(\d+),(\d+)/.exec(line)?.slice(1) ?? [])[0] ?? [];
  mkdirSync(join(second, 'one'));
  writeFileSync(
    join(second, 'one/.trainyard-stage'),
    `["o"]\n["p","${name}",${size},${modified},${changed}]\n`,
    { mode: 0o600 }, // only what others may not write is believed
  );
  const partial = join(second, 'one/.trainyard-stage.partial');
  writeFileSync(partial, big.subarray(0, 8_500_000), { mode: 0o600 }); // two parts, and a piece
  const staged = await stage(from, '~/one', { hosts: ['127.0.0.3'] });
  expect(staged.fromSource).toBeLessThan(big.length - 8 * 1024 * 1024 + 10_000);
  expect(readFileSync(join(second, 'one/shard')).equals(big)).toBe(true);
  expect(namesIn(join(second, 'one'))).toEqual(['shard']);
});

it('lists once more when a file changes while it is sent, and says so when it does not rest', async () => {
  const from = join(dir, 'growing');
  put(from, '1', 'one');
  put(from, '2', 'two');
  let changes = 0;
  const appending = (most: number): Progress => ({
    onProgress: (text) => {
      if (text.startsWith('comparing') && changes < most) appendFileSync(join(from, '2'), `${changes++}`);
    },
  });
  await stage(from, '~/growing', {}, appending(1));
  for (const home of homes()) expect(readFileSync(join(home, 'growing/2'), 'utf8')).toBe('two0');
  await expect(stage(from, '~/growing', {}, appending(100))).rejects.toThrow('2 changed while it was sent');
  for (const home of homes()) expect(readFileSync(join(home, 'growing/2'), 'utf8')).toBe('two0');
});

it('has a list that is longer than a piece on its way', async () => {
  const from = join(dir, 'many');
  mkdirSync(from);
  // Names that cannot be made shorter: the list has more than 1 MiB.
  for (let index = 0; index < 11_000; ++index)
    writeFileSync(join(from, randomBytes(110).toString('hex')), '');
  const staged = await stage(from, '~/many', { hosts: ['127.0.0.3'] });
  expect(got(staged)).toEqual([11_000]);
  expect(namesIn(join(homes()[1] ?? '', 'many'))).toEqual(namesIn(from));
});

it.runIf(root)('names the node and the figures where there is no room', async () => {
  const [, second = ''] = homes();
  const mount = (options: string): void => {
    mkdirSync(join(second, 'small'), { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', join(second, 'small')]);
  };
  for (const [options, words] of [
    ['size=4m', /127\.0\.0\.3.*small needs 9\.\d MB, and its disk has 4\.\d MB free/],
    ['size=64m,nr_inodes=4', /127\.0\.0\.3.*small needs 10 more files, and its disk has room for 3/],
  ] as const) {
    mount(options);
    try {
      await expect(stage(images, '~/small')).rejects.toThrow(words);
      expect(readdirSync(join(second, 'small'))).toEqual([]);
    } finally {
      execFileSync('umount', [join(second, 'small')]);
    }
  }
});

it('copies a file or a folder of one node to the others, without a record', async () => {
  const [first = '', second = '', third = ''] = homes();
  put(second, 'from/a', 'a');
  put(second, 'from/b/c', 'c');
  const copy = (from: string, to: string): Promise<Staged> =>
    machine.copyFrom(machine.nodes, { host: '127.0.0.3', from: nodePath(from), to: nodePath(to) });
  put(third, 'to/a', 'older');
  expect(got(await copy('~/from', '~/to'))).toEqual([2, 2, 2]);
  for (const home of homes()) {
    expect(namesIn(join(home, 'to'))).toEqual(['a', 'b', 'b/c']);
    expect(lstatSync(join(home, 'to')).isDirectory()).toBe(true);
    expect(readFileSync(join(home, 'to/a'), 'utf8')).toBe('a');
  }
  expect(got(await copy('~/from', '~/from'))).toEqual([2, 2]); // not to itself
  expect(got(await copy('~/from/a', '~/named'))).toEqual([1, 1, 1]);
  expect(readFileSync(join(first, 'named'), 'utf8')).toBe('a');
  expect(got(await copy('~/from/a', '~/below/'))).toEqual([1, 1, 1]);
  expect(readFileSync(join(third, 'below/a'), 'utf8')).toBe('a');
  expect(existsSync(join(first, '.trainyard-stage'))).toBe(false);
});

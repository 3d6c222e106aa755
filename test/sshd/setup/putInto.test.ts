// Files and folders of this machine put into a folder of nodes: whole, or not at all.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Cancelled, UserError } from '../../../src/core/base/errors.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { Progress } from '../../../src/core/base/progress.js';
import { lackOf, lookAtData } from '../../../src/core/cluster/formData.js';
import { namesThere, putInto } from '../../../src/core/cluster/nodes/putInto.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-put-'));
const images = join(dir, 'my images');
const note = join(dir, 'note.txt');
let cluster: TestCluster;
let machine: SshMachine;

beforeAll(async () => {
  for (const name of ['a', 'b']) mkdirSync(join(images, name), { recursive: true });
  writeFileSync(join(images, 'a/1.jpg'), 'one');
  writeFileSync(join(images, 'b/big'), Buffer.alloc(30_000_000, 'some bytes of a shard, '));
  writeFileSync(note, 'read me');
  cluster = await testCluster(dir, { nodes: 2 });
  machine = cluster.machine();
});
afterAll(async () => {
  machine.dispose();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const home = (index: number): string => cluster.practice.nodes[index]?.home ?? '';
const put = (sources: readonly string[], folder: string, progress: Progress = {}): Promise<number> =>
  putInto(
    { profile: cluster.profile, logger: nullLogger },
    machine.nodes,
    sources,
    nodePath(folder),
    progress,
  );

it('a form finds it missing before, and there afterwards', async () => {
  const data = [{ name: 'data', path: nodePath('~/for-form/my images') }] as const;
  const lack = async (): Promise<string | undefined> => {
    const [look] = await lookAtData(machine, data);
    if (!look) throw new Error('nothing was looked at');
    return lackOf(look, data[0].path, { nodes: '', hosts: '', ranks: '', gpus: '' });
  };
  const [first, second] = machine.nodes.map(({ name }) => name);
  expect(await lack()).toBe(`${first} has no ~/for-form/my images`);
  await put([images], '~/for-form');
  expect(await lack()).toBeUndefined();
  rmSync(join(home(1), 'for-form'), { recursive: true });
  expect(await lack()).toBe(`${second} has no ~/for-form/my images`);
});

it('puts a folder and a file into a folder that is made, on every node', async () => {
  expect(await put([images, note], '~/new/deep')).toBe(3);
  for (const index of [0, 1]) {
    const at = join(home(index), 'new/deep');
    expect(readdirSync(at).sort()).toEqual(['my images', 'note.txt']);
    expect(readFileSync(join(at, 'my images/a/1.jpg'), 'utf8')).toBe('one');
    expect(readFileSync(join(at, 'my images/b/big'))).toHaveLength(30_000_000);
  }
});

it('says what is there already, replaces files of the same name, and leaves others', async () => {
  expect(await namesThere(machine.nodes, [images, note], nodePath('~/new/deep'))).toEqual([
    'my images',
    'note.txt',
  ]);
  expect(await namesThere(machine.nodes, [images], nodePath('~/nowhere'))).toEqual([]);
  const at = join(home(0), 'new/deep/my images');
  writeFileSync(join(at, 'a/1.jpg'), 'another');
  writeFileSync(join(at, 'mine'), 'mine');
  rmSync(join(home(1), 'new/deep/my images'), { recursive: true });
  expect(await put([images], '~/new/deep')).toBe(2);
  expect(readFileSync(join(at, 'a/1.jpg'), 'utf8')).toBe('one');
  expect(readdirSync(at).sort()).toEqual(['a', 'b', 'mine']);
  expect(readdirSync(join(home(1), 'new/deep/my images')).sort()).toEqual(['a', 'b']);
});

it('a copy that is given up leaves nothing, not even a hidden folder', async () => {
  const abort = new AbortController();
  const onProgress = (): void => {
    const there = [0, 1].flatMap((index) => (existsSync(join(home(index), 'half')) ? [index] : []));
    if (there.length > 0) abort.abort(new Cancelled());
  };
  const timer = setInterval(onProgress, 5);
  try {
    await expect(put([images], '~/half', { signal: abort.signal })).rejects.toBeInstanceOf(Cancelled);
  } finally {
    clearInterval(timer);
  }
  for (const index of [0, 1]) {
    const at = join(home(index), 'half');
    expect(existsSync(at) ? readdirSync(at) : []).toEqual([]);
  }
});

it('says why something cannot be put there', async () => {
  mkdirSync(join(home(0), 'taken/note.txt'), { recursive: true });
  const refused = put([note], '~/taken');
  await expect(refused).rejects.toBeInstanceOf(UserError);
  await expect(refused).rejects.toThrow(/note\.txt is a folder on 127\.0\.0\.2/);
  expect(existsSync(join(home(1), 'taken'))).toBe(false);
  await expect(put([join(dir, 'none')], '~/x')).rejects.toThrow(/none cannot be copied/);
  await expect(put([note], 'relative')).rejects.toThrow(/not an absolute path/);
});

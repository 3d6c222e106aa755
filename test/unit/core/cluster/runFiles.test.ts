// What a path in a run's folder names, as the real set-up program answers it on this machine.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { findRunFiles, leftOutText, type RunFiles } from '../../../../src/core/cluster/nodes/runFiles.js';
import type { Bootstrap } from '../../../../src/core/setup/bootstrap.js';
import { openLocalBootstrap } from '../../../../src/core/setup/localChannel.js';
import { readBootstrap } from '../../../../src/core/setup/payload.js';
import { temporaryFolder } from '../../support/temporary.js';

const root = join(import.meta.dirname, '../../../..');
const folder = temporaryFolder();
const run = join(folder, 'run');
let channel: Bootstrap;
const find = (path: string): Promise<RunFiles> => findRunFiles(channel, nodePath(run), path);
const write = (name: string, text: string | Buffer): void => {
  mkdirSync(join(run, name, '..'), { recursive: true });
  writeFileSync(join(run, name), text);
};

beforeAll(async () => {
  channel = await openLocalBootstrap(await readBootstrap({ bootstrap: join(root, 'native/node') }));
});
afterAll(() => {
  channel.dispose();
});

it('a file is found below the code of the run, then below the run, with its sum', async () => {
  write('own/a.txt', 'of the run');
  write('code/own/a.txt', 'of the code');
  write('code/out/b.txt', '');
  const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect(await find('own/a.txt')).toEqual({
    ...{ name: 'a.txt', isFolder: false, folder: join(run, 'code/own'), leftOut: [], leftOutCount: 0 },
    files: [{ name: 'a.txt', bytes: 11, sha256: sum('of the code') }],
  });
  expect((await find('code/own/a.txt')).files[0]?.sha256).toBe(sum('of the code'));
  write('logs/rank-0.log', 'of the run');
  expect((await find('logs')).folder).toBe(join(run, 'logs'));
  expect(await find('.')).toMatchObject({ name: 'run', folder: run });
  const found = await find('out');
  expect(leftOutText(found)).toBeUndefined();
  expect([found.name, found.folder, found.isFolder]).toEqual(['out', join(run, 'code/out'), true]);
  expect(found.files).toEqual([{ name: 'b.txt', bytes: 0, sha256: sum('') }]);
  expect((await find(join(run, 'own/a.txt'))).files[0]?.bytes).toBe(10);
  expect((await find('own/../own/')).files).toHaveLength(1);
});

it('links count as files of the run, and lead nowhere else', async () => {
  writeFileSync(join(folder, 'secret'), 'not of the run');
  write('links/sub/plain', 'x');
  symlinkSync('sub/plain', join(run, 'links/inside'));
  symlinkSync('sub', join(run, 'links/folder'));
  symlinkSync('nowhere', join(run, 'links/dangling'));
  symlinkSync('loop', join(run, 'links/loop'));
  symlinkSync(join(folder, 'secret'), join(run, 'links/secret'));
  symlinkSync(folder, join(run, 'out of it'));
  execFileSync('mkfifo', [join(run, 'links/fifo')]);
  writeFileSync(Buffer.concat([Buffer.from(join(run, 'links/odd-')), Buffer.from([0xff])]), 'x');
  const found = await find('links');
  expect(found.files.map(({ name }) => name)).toEqual(['inside', 'sub/plain']);
  expect(found.leftOut).toEqual(['dangling', 'fifo', 'folder', 'loop', 'odd-\ufffd']);
  expect(found.leftOutCount).toBe(6);
  expect(leftOutText(found)).toMatch(/: dangling, fifo, folder, loop, odd-\ufffd and 1 more$/);
  expect((await find('links/folder')).files.map(({ name }) => name)).toEqual(['plain']);
  for (const path of ['links/secret', 'out of it', 'out of it/secret', '../secret', '..', '/etc', '~/x']) {
    await expect(find(path), path).rejects.toThrow(`${path} leads out of ${run}`);
  }
  await expect(find('links/fifo')).rejects.toThrow('neither a file nor a folder');
});

it('what is not there is named, with what is there', async () => {
  write('code/outputs/best.pt', 'x');
  await expect(find('outputs/model.pt')).rejects.toThrow(
    `there is no outputs/model.pt in ${run}. code/outputs has best.pt.`,
  );
  await expect(find('nothing')).rejects.toThrow('code has out/, outputs/, own/.');
  for (let n = 10; n < 35; n++) write(`many/${n}`, '');
  await expect(find('many/x')).rejects.toThrow(/many has 10, 11, .*, 29 and 5 more/);
  mkdirSync(join(run, 'empty'));
  await expect(find('empty')).rejects.toThrow('there is no file in empty');
  await expect(find('empty/x')).rejects.toThrow('empty is empty');
  rmSync(join(run, 'code'), { recursive: true });
  await expect(find('nothing')).rejects.toThrow('The folder of the run has empty/, links/, logs/, many/');
});

it('where a download lands is not for the node to say', async () => {
  const answers = (name: string, next: number | null) => ({
    request: (op: string): Promise<never> =>
      Promise.resolve(
        (op === 'files-look'
          ? {
              state: 'there',
              name: '.ssh',
              folder: nodePath(run),
              isFolder: false,
              leftOut: [],
              leftOutCount: 0,
            }
          : { files: [[name, 1, 'aa']], gone: [], next }) as never,
      ),
  });
  const path = 'outputs/model.pt';
  const found = await findRunFiles(answers('model.pt', null), nodePath(run), path);
  expect(found.name).toBe('model.pt');
  for (const [name, next] of [
    ['.ssh/authorized_keys', null],
    ['model.pt', 0],
  ] as const) {
    await expect(findRunFiles(answers(name, next), nodePath(run), path)).rejects.toThrow('makes no sense');
  }
});

it('names of what is left out reach nobody raw', () => {
  expect(leftOutText({ leftOut: ['a\u001b[2J', '[x](command:y)'], leftOutCount: 2 })).toMatch(
    /: a\S*\[2J, \[x\] \(command:y\)$/,
  );
});

it('thousands of files come in several answers', async () => {
  const long = 'n'.repeat(200);
  mkdirSync(join(run, 'thousands'));
  for (let n = 0; n < 1000; n++) writeFileSync(join(run, 'thousands', `${long}${n}`), String(n));
  const { files } = await find('thousands');
  expect(files).toHaveLength(1000);
  expect(new Set(files.map(({ sha256 }) => sha256)).size).toBe(1000);
});

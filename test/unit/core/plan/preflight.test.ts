import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { AgentClient } from '../../../../src/core/agent/agentClient.js';
import { assertPassed } from '../../../../src/core/base/checks.js';
import { installLibgomp } from '../../../../src/core/base/nodeCommands.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import { checkData, checkDisk, checkTrainer } from '../../../../src/core/plan/preflight.js';
import { FakeAgent } from '../../support/fakeAgent.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
function program(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

it('a trainer that runs, one that lacks a library, one that fails, one that is not there', async () => {
  expect(await checkTrainer(nodePath(program('good', 'exit 0')))).toMatchObject({ ok: true });
  const lacking =
    'echo "error while loading shared libraries: libgomp.so.1: cannot open shared object file" >&2; exit 127';
  expect(await checkTrainer(nodePath(program('lacking', lacking)))).toMatchObject({
    ok: false,
    hint: installLibgomp,
  });
  expect(await checkTrainer(nodePath(program('bad', 'echo why >&2; exit 9')))).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/exit 9\): why/) as string,
  });
  expect(await checkTrainer(nodePath(join(folder, 'nowhere')))).toMatchObject({ ok: false });
});

it('data folders that are there, are files, or are missing; names are left to the trainer', async () => {
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'file'), '');
  const check = async (...flags: string[]): Promise<boolean[]> => {
    const { data } = requestOf({
      profile: { name: 'local', kind: 'local' },
      words: ['train', ...flags],
      cwd: '/',
    });
    return (await checkData(data)).map(({ ok }) => ok);
  };
  expect(await check('--data', join(folder, 'data'), '--eval-data', join(folder, 'file'))).toEqual([
    true,
    false,
  ]);
  expect(await check('--data', join(folder, 'nowhere'))).toEqual([false]);
  expect(await check('--data', 'synthetic', 'train')).toEqual([]);
  mkdirSync(join(folder, 'shards'));
  writeFileSync(join(folder, 'shards/flowers_train_00000-of-00001.tfrecord'), '');
  writeFileSync(join(folder, 'shards/labels.txt'), '');
  const shards = (name: string): string => join(folder, 'shards', name);
  expect(await check('--data', shards('train'), '--eval-data', shards('validation'))).toEqual([true, false]);
  expect(await check('--data', shards('flowers_train_00000-of-00001.tfrecord'))).toEqual([true]);
  expect(await check('--data', shards('labels'))).toEqual([false]);
});

it('disk of the nearest folder that exists', async () => {
  const space = { total: 9e9, inodesFree: 1e6 };
  const asked: unknown[] = [];
  const agent = new FakeAgent(({ params }) => {
    asked.push(params['path']);
    const missing = { error: { code: 1, message: 'no such folder' } };
    return params['path'] === '/home' ? { result: { ...space, free: 5e9 } } : missing;
  });
  const client = await AgentClient.connect(agent.stream());
  expect(await checkDisk(client, nodePath('/home/me/.trainyard'))).toMatchObject({
    ok: true,
    detail: '5.0 GB free in /home/me/.trainyard',
  });
  expect(asked).toEqual(['/home/me/.trainyard', '/home/me', '/home']);
  client.dispose();
  const full = new FakeAgent(() => ({ result: { ...space, free: 12e6 } }));
  const other = await AgentClient.connect(full.stream());
  const detail = '12 MB free in /x, 200 MB are needed';
  expect(await checkDisk(other, nodePath('/x'))).toMatchObject({ ok: false, detail });
  other.dispose();
});

it('the first failure is thrown, the others are counted', () => {
  const good = { name: 'a', ok: true, detail: 'fine', hint: '' };
  const bad = { name: 'disk', ok: false, detail: '0.0 GB free', hint: 'Free some space' };
  expect(() => {
    assertPassed([good]);
  }).not.toThrow();
  expect(() => {
    assertPassed([good, bad, bad]);
  }).toThrow(/disk: 0\.0 GB free \(also wrong: disk\)\. Free some space\./);
});

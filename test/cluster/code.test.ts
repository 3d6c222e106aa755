// The user's code goes along with a run over three nodes: sent once, stored by content, and found
// again when it was damaged or half sent.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodePath } from '../../src/core/base/nodePath.js';
import type { RunCode } from '../../src/core/code/place.js';
import { takeSnapshot } from '../../src/core/code/snapshot.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { typedOf } from '../../src/core/plan/request/recordedRun.js';
import { requestOf } from '../../src/core/plan/request/request.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { detailsOf, untilOver } from './support/runs.js';

const nodes = 3;
const dir = mkdtempSync(join(tmpdir(), 'trainyard-code-'));
const folder = join(dir, 'proj');
let hosts: FaultHosts;
let machine: SshMachine;

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const codeOf = async (): Promise<RunCode> => {
  const snapshot = await takeSnapshot(folder, { cache: join(dir, 'cache') });
  return { record: snapshot.record, snapshot };
};
/** What was sent from this machine, as the user was told. */
let said: string[] = [];
const words = ['python3', 'train.py'];
async function start(code: RunCode | undefined, more: { runDir?: NodePath } = {}): Promise<NodePath> {
  said = [];
  const request = requestOf({ profile: hosts.profile, words, cwd: '/', ranks: nodes, code, ...more });
  const onProgress = (text: string): void => {
    if (text.startsWith('sending the code')) said.push(text);
  };
  return (await machine.start(request, { onProgress })).dir;
}
const finished = async (dir: NodePath): Promise<void> => {
  expect((await untilOver(machine, dir)).state).toMatchObject({ phase: 'finished' });
};
const outputs = (dir: string): string[] =>
  Array.from({ length: nodes }, (_, rank) =>
    readFileSync(join(dir, 'logs', `rank-${rank}.log`), 'utf8').trim(),
  );
const stores = (): string[] => hosts.homes.map((home) => join(home, '.trainyard/code'));
const blobs = (store: string): string[] =>
  readdirSync(join(store, 'blobs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.length > 3)
    .map((name) => join(store, 'blobs', name));
const holding = (text: string): string[] =>
  stores().map((store) => blobs(store).find((path) => readFileSync(path, 'utf8') === text) ?? '');

beforeAll(async () => {
  put('train.py', 'import os, lib.a\nprint(os.path.basename(os.getcwd()), lib.a.text)\n');
  put('lib/a.py', 'text = "first"\n');
  for (let number = 0; number < 300; ++number) put(`data/${number}.txt`, `number ${number}\n`);
  hosts = await practiceHosts({ nodes });
  machine = hosts.machine();
});
afterAll(async () => {
  await hosts.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('all nodes run it, a second start sends only what changed, and edits do not reach a run', async () => {
  const first = await start(await codeOf());
  expect(said).toEqual([expect.stringMatching(/^sending the code \(302 files/)]); // to the head alone
  put('lib/a.py', 'text = "second"\n');
  await finished(first);
  expect(outputs(first)).toEqual(Array(nodes).fill('code first'));
  const second = await start(await codeOf());
  expect(said).toEqual(['sending the code (1 file, 0.0 MB)']);
  await finished(second);
  expect(outputs(second)).toEqual(Array(nodes).fill('code second'));
  const again = typedOf((await detailsOf(machine, first)).run!);
  const third = await start(again.code);
  expect(said).toEqual([]);
  await finished(third);
  expect(outputs(third)).toEqual(Array(nodes).fill('code first'));
  await finished(await start(undefined, { runDir: first }));
  expect(outputs(first).map((text) => text.split('\n').at(-1))).toEqual(Array(nodes).fill('code first'));
});

test('a blob that was changed, or cut short, on any node is found and sent again', async () => {
  for (const path of holding('number 7\n').slice(1)) appendFileSync(path, 'x');
  truncateSync(holding('number 8\n')[0]!, 2);
  const [damaged = ''] = holding('number 9\n');
  writeFileSync(damaged, 'number 0\n'); // of the same size
  const run = await start(await codeOf());
  expect(said).toEqual(['sending the code (2 files, 0.0 MB)']); // what the head lacks
  for (const home of hosts.homes)
    for (const number of [7, 8, 9]) {
      const name = run.split('/').at(-1) ?? '';
      const path = join(home, '.trainyard/runs', name, `code/data/${number}.txt`);
      expect(readFileSync(path, 'utf8')).toBe(`number ${number}\n`);
    }
  await finished(run);
});

test('a send that breaks off leaves no run behind, and the next one goes on', async () => {
  for (let number = 0; number < 40; ++number) put(`big/${number}.bin`, `${number}`.repeat(500_000));
  const code = await codeOf();
  const { snapshot } = code;
  if (!snapshot) throw new Error('no snapshot');
  let read = 0;
  const breaking: RunCode = {
    ...code,
    snapshot: {
      ...snapshot,
      read: (blob) => {
        if (++read === 30) throw new Error('the disk went away');
        return snapshot.read(blob);
      },
    },
  };
  const runs = (): string[][] => hosts.homes.map((home) => readdirSync(join(home, '.trainyard/runs')));
  const before = runs();
  await expect(start(breaking)).rejects.toThrow('the disk went away');
  expect(runs()).toEqual(before);
  const run = await start(code);
  const [, files] = /\((\d+) files/.exec(said[0] ?? '') ?? [];
  expect(Number(files)).toBeLessThan(38); // what had arrived is there
  expect(Number(files)).toBeGreaterThan(5);
  await finished(run);
  for (const store of stores()) {
    const left = readdirSync(dirname(store)).concat(readdirSync(store));
    expect(left.filter((name) => name.includes('partial') || name.includes('maker'))).toEqual([]);
  }
});

test('delete removes the code on every node, and names what the program put there', async () => {
  put('train.py', 'import lib.a\nopen("result.txt", "w").write("kept")\n');
  const run = await start(await codeOf());
  await finished(run);
  const client = await machine.node.client();
  expect(await client.request('run.delete', { dir: run })).toMatchObject({
    stays: ['code/result.txt'],
    folderStays: true,
  });
  expect(readdirSync(join(run, 'code'))).toEqual(['result.txt']);
  expect(existsSync(join(run, 'code.json'))).toBe(false);
});

test('a snapshot that the node no longer has is an error that names the folder', async () => {
  const { record } = await codeOf();
  for (const store of stores()) rmSync(store, { recursive: true, force: true });
  const start_ = start({ record });
  await expect(start_).rejects.toMatchObject({ code: 'preflight', hint: { kind: 'nameCode', folder } });
});

// Files of a run on their way to this machine, from an agent that is played.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { AgentError } from '../../../../src/core/agent/agentClient.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import {
  assertNames,
  assertOwnNames,
  downloadFiles,
} from '../../../../src/core/checkpoints/downloadFiles.js';
import type { RunFiles } from '../../../../src/core/cluster/nodes/runFiles.js';
import { agentErrors } from '../../../../src/core/contracts/agentApi.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const sum = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A folder of a node, and the agent that reads it. `asked`: the paths, in order. */
function nodeWith(contents: Record<string, string>): {
  node: Pick<AgentNode, 'client'>;
  found: RunFiles;
  asked: string[];
} {
  const asked: string[] = [];
  const request = (_method: string, given: object): Promise<{ data: string }> => {
    const { path, offset, length } = given as { path: string; offset: number; length: number };
    asked.push(path);
    const text = contents[path.replace('/run/out/', '')];
    if (text === undefined) {
      return Promise.reject(new AgentError(agentErrors.notFound, `no ${path}`, 'file.read'));
    }
    const piece = Buffer.from(text).subarray(offset, offset + length);
    return Promise.resolve({ data: piece.toString('base64') });
  };
  const node = { client: () => Promise.resolve({ request }) } as unknown as Pick<AgentNode, 'client'>;
  const files = Object.entries(contents).map(([name, text]) => ({
    ...{ name, bytes: Buffer.byteLength(text), sha256: sum(text) },
  }));
  const found = { name: 'out', isFolder: true, folder: nodePath('/run/out'), files };
  return { node, found: { ...found, leftOut: [], leftOutCount: 0 }, asked };
}

const unfinished = async (to: string, before: Record<string, string>): Promise<void> => {
  const { found } = nodeWith(before);
  const gone = nodeWith({});
  await expect(downloadFiles(gone.node, found, to)).rejects.toThrow('is gone meanwhile');
};

it('a folder comes with its folders, and a second time it is there', async () => {
  const to = join(folder, 'whole');
  const { node, found, asked } = nodeWith({
    'a.txt': 'one',
    'b/c/d': 'two',
    manifest: '',
    'manifest.json': 'own',
  });
  expect(await downloadFiles(node, found, to)).toEqual({ path: join(to, 'out'), bytes: 9, kept: 0 });
  expect(readdirSync(to)).toEqual(['out']);
  expect(readdirSync(join(to, 'out')).sort()).toEqual(['a.txt', 'b', 'manifest', 'manifest.json']);
  expect(readFileSync(join(to, 'out/b/c/d'), 'utf8')).toBe('two');
  asked.length = 0;
  expect(await downloadFiles(node, found, to)).toMatchObject({ kept: 9 });
  expect(asked).toEqual([]);
});

it('one file comes under its name, and what has the name is left alone', async () => {
  const to = join(folder, 'one');
  const { node, found } = nodeWith({ 'model.pt': 'weights' });
  const file = { ...found, name: 'model.pt', isFolder: false };
  await downloadFiles(node, file, to);
  expect([readdirSync(to), readFileSync(join(to, 'model.pt'), 'utf8')]).toEqual([['model.pt'], 'weights']);
  writeFileSync(join(to, 'model.pt'), 'my own');
  await expect(downloadFiles(node, file, to)).rejects.toThrow(
    'is there already, and is not what the run has',
  );
  expect([readdirSync(to), readFileSync(join(to, 'model.pt'), 'utf8')]).toEqual([['model.pt'], 'my own']);
});

it('an unfinished one goes on: what changed since comes anew, the rest stays', async () => {
  const to = join(folder, 'unfinished');
  await unfinished(to, { big: 'old weights', log: 'line 1', 'x/y': 'gone later' });
  const partial = join(to, 'out.partial/files');
  mkdirSync(join(partial, 'x'), { recursive: true });
  writeFileSync(join(partial, 'big'), 'old wei');
  writeFileSync(join(partial, 'log'), 'line 1');
  writeFileSync(join(partial, 'x/y'), 'gone later');
  const { node, found, asked } = nodeWith({ big: 'old weights', log: 'line 1, line 2' });
  expect(await downloadFiles(node, found, to)).toMatchObject({ bytes: 25, kept: 7 });
  expect(asked).toEqual(['/run/out/big', '/run/out/log']);
  expect(readFileSync(join(to, 'out/big'), 'utf8')).toBe('old weights');
  expect(readFileSync(join(to, 'out/log'), 'utf8')).toBe('line 1, line 2');
  expect([existsSync(join(to, 'out/x/y')), readdirSync(to)]).toEqual([false, ['out']]);

  await unfinished(join(folder, 'turned'), { 'a/b': 'a folder' });
  mkdirSync(join(folder, 'turned/out.partial/files/a'), { recursive: true });
  writeFileSync(join(folder, 'turned/out.partial/files/a/b'), 'a folder');
  const turned = nodeWith({ a: 'a file' });
  await downloadFiles(turned.node, turned.found, join(folder, 'turned'));
  expect(readFileSync(join(folder, 'turned/out/a'), 'utf8')).toBe('a file');
});

it('a file that changes on the way gets no name', async () => {
  const to = join(folder, 'changes');
  const { found } = nodeWith({ a: 'before it', b: 'x' });
  const other = nodeWith({ a: 'after it.', b: 'x' });
  await expect(downloadFiles(other.node, found, to)).rejects.toThrow(
    `a has another SHA-256 than ${sum('before it')}, so it was removed. Download it again once nothing`,
  );
  const cut = nodeWith({ a: 'be', b: 'x' });
  await expect(downloadFiles(cut.node, found, to)).rejects.toThrow('/run/out/a was cut short meanwhile');
  expect(readdirSync(to)).toEqual(['out.partial']);
});

it("a folder of the user's own with the name of the unfinished one is left alone", async () => {
  const to = join(folder, 'own');
  const { node, found } = nodeWith({ a: 'x' });
  mkdirSync(join(to, 'out.partial'), { recursive: true });
  for (const [name, text] of [
    ['mine', 'x'],
    ['manifest.json', '{}'],
    ['manifest.json', 'no JSON'],
    ['manifest.json', '{"kind":"files of a run","files":[{"name":"../../x","bytes":1,"sha256":""}]}'],
  ] as const) {
    writeFileSync(join(to, 'out.partial', name), text);
    await expect(downloadFiles(node, found, to)).rejects.toThrow('is not what a download has left');
    expect(readFileSync(join(to, 'out.partial', name), 'utf8')).toBe(text);
  }
});

it('names lead nowhere else, and are some that this machine can have', () => {
  for (const name of ['../a', 'a/../b', '/a', 'a//b', './a', '']) {
    expect(() => {
      assertNames(['fine', name], false);
    }, name).toThrow('cannot be the name of a file');
  }
  const ofLinux = ['a:b', 'a\\b', 'dir./x', 'con', 'lpt1.txt', 'x ', 'what?'];
  for (const name of ofLinux) {
    expect(() => {
      assertNames([name], true);
    }, name).toThrow('on this machine');
  }
  assertNames(ofLinux, false);
  assertNames(['a/b c/ü.txt', 'console.log', '.hidden'], true);
  const { found } = nodeWith({});
  expect(() => {
    assertOwnNames([found, { ...found, name: 'other' }, found]);
  }).toThrow('two of them are called out');
});

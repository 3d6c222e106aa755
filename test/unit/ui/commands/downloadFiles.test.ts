// Download Files of Run: what it asks, what it says at the end, and which folder it then shows.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunFiles } from '../../../../src/core/cluster/nodes/runFiles.js';
import { downloadFiles } from '../../../../src/ui/commands/runs/downloadFiles.js';
import { temporaryFolder } from '../../support/temporary.js';

const editor = vi.hoisted(() => ({
  /** What the user types, and the folder that is chosen. */
  typed: undefined as string | undefined,
  folder: undefined as string | undefined,
  validate: undefined as ((text: string) => string | undefined) | undefined,
  asked: [] as string[],
  shown: [] as string[],
  revealed: [] as string[],
}));

vi.mock('vscode', () => ({
  ProgressLocation: { Notification: 15 },
  UIKind: { Desktop: 1 },
  env: { uiKind: 1, remoteName: undefined },
  Uri: { file: (path: string) => path },
  commands: {
    executeCommand: (id: string, path: string) => {
      editor.revealed.push(`${id} ${path}`);
      return Promise.resolve();
    },
  },
  window: {
    showInputBox: (options: { title: string; validateInput: (text: string) => string | undefined }) => {
      editor.asked.push(options.title);
      editor.validate = options.validateInput;
      return Promise.resolve(editor.typed);
    },
    showOpenDialog: ({ title }: { title: string }) => {
      editor.asked.push(title);
      return Promise.resolve(editor.folder === undefined ? undefined : [{ fsPath: editor.folder }]);
    },
    showInformationMessage: (text: string, button: string) => {
      editor.shown.push(text);
      return Promise.resolve(button);
    },
    withProgress: (_: object, act: (report: object, token: object) => Promise<unknown>) =>
      act({ report: () => undefined }, { onCancellationRequested: () => ({ dispose: () => undefined }) }),
  },
}));

const here = temporaryFolder();
const run = { profile: 'lab', id: '20261121-104500-train-1f2e', dir: nodePath('/runs/r') };
const looked: [string, string][] = [];
let leftOut: string[] = [];
/** On the node too: nothing has to come. */
const content = 'the same on both sides';

/** A file where the path has a dot, else a folder with one file. */
function found(path: string): RunFiles {
  const isFolder = !path.includes('.');
  const name = path.slice(path.lastIndexOf('/') + 1);
  const file = {
    name: isFolder ? 'a.txt' : name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
  return { name, isFolder, folder: run.dir, files: [file], leftOut, leftOutCount: leftOut.length };
}
const machine = {
  node: { client: () => Promise.reject(new Error('nobody asks the node')) },
  runFiles: (dir: string, path: string) => {
    looked.push([dir, path]);
    return Promise.resolve(found(path));
  },
};
const backend = { machine: () => Promise.resolve(machine), monitor: { all: [] } };
const ui = {
  services: { backend: () => Promise.resolve(backend) },
} as unknown as Parameters<typeof downloadFiles>[0];

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(here, name)), { recursive: true });
  writeFileSync(join(here, name), text);
};

beforeEach(() => {
  for (const list of [editor.asked, editor.shown, editor.revealed, looked]) list.length = 0;
  Object.assign(editor, { typed: undefined, folder: here });
  leftOut = [];
});

it('asks for the path, which may not be empty, and for the folder', async () => {
  await downloadFiles(ui, run);
  expect(editor.asked).toEqual(['Download Files of train-1f2e']);
  expect(editor.validate?.(' ')).toBe('Name a file or folder of the run');
  expect(editor.validate?.('.')).toBeUndefined();
  Object.assign(editor, { typed: ' outputs ', folder: undefined });
  await downloadFiles(ui, run);
  expect(editor.asked.at(-1)).toBe('Download outputs of train-1f2e');
  expect(looked).toEqual([]);
});

it('says what came and what did not, and shows the folder', async () => {
  write('outputs/a.txt', content);
  leftOut = ['a link', 'a pipe'];
  editor.typed = ' code/outputs ';
  await downloadFiles(ui, run);
  expect(looked).toEqual([[run.dir, 'code/outputs']]);
  expect(editor.shown).toHaveLength(1);
  expect(editor.shown[0]).toMatch(/outputs \(1 file, 22 B\): every file .* on the node; left out, since /);
  expect(editor.shown[0]).toMatch(/: a link, a pipe\.$/);
  expect(editor.revealed).toEqual([`revealFileInOS ${join(here, 'outputs')}`]);
});

it('of a file, shows the folder in which it is', async () => {
  write('model.pt', content);
  editor.typed = 'outputs/model.pt';
  await downloadFiles(ui, run);
  expect(editor.shown).toEqual([
    `${join(here, 'model.pt')} (22 B): every file has the SHA-256 that it had on the node.`,
  ]);
  expect(editor.revealed).toEqual([`revealFileInOS ${here}`]);
});

it('leaves other content as it is, and says so', async () => {
  write('other.pt', 'of the user');
  editor.typed = 'other.pt';
  await expect(downloadFiles(ui, run)).rejects.toThrow('other.pt is there already, and is not what the run');
  expect(editor.shown).toEqual([]);
});

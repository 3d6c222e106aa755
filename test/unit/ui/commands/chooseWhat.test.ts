// What Run Training offers of a workspace's presets: nothing of one that nobody trusts.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { chooseWhat } from '../../../../src/ui/commands/start/chooseWhat.js';

interface Row {
  label: string;
  description?: string;
}
const editor = vi.hoisted(() => ({
  isTrusted: true,
  folder: '',
  shown: [] as Row[],
  /** Part of the row that the user takes. */
  answer: '',
}));

vi.mock('vscode', () => ({
  QuickPickItemKind: { Separator: -1 },
  workspace: {
    get isTrusted() {
      return editor.isTrusted;
    },
    get workspaceFolders() {
      return [{ uri: { scheme: 'file', fsPath: editor.folder } }];
    },
  },
  window: {
    showQuickPick: (items: Row[]) => {
      editor.shown = items;
      return Promise.resolve(
        items.find(({ label }) => editor.answer !== '' && label.includes(editor.answer)),
      );
    },
  },
}));

const recent = { profile: 'local', words: ['make'], ranks: 2, budget: 5, budgetStop: true };
const ui = {
  services: {
    context: { globalState: { get: () => [recent] } },
    backend: () => Promise.resolve({ machine: () => Promise.resolve({}) }),
  },
} as unknown as Parameters<typeof chooseWhat>[0];

beforeEach(() => {
  editor.folder = mkdtempSync(join(tmpdir(), 'ty-choose-'));
  mkdirSync(join(editor.folder, '.vscode'));
  write({
    version: 1,
    presets: [
      {
        ...{ name: 'night', command: 'python train.py', nodes: 2, wait: true, tensorboard: true },
        ...{ budget: 12, budgetStop: true, code: 'src', slurm: { qos: 'high' } },
      },
      { name: 'elsewhere', profile: 'lab', command: 'make' },
    ],
  });
  editor.isTrusted = true;
  editor.answer = '';
});
afterEach(() => {
  rmSync(editor.folder, { recursive: true, force: true });
});
const write = (content: object): void => {
  writeFileSync(join(editor.folder, '.vscode/trainyard.json'), JSON.stringify(content));
};
const offered = (): string[] => editor.shown.map(({ label }) => label.replace(/^\$\(\S+\) /, ''));

it('offers the presets of the profile, and takes all that one says', async () => {
  editor.answer = 'night';
  expect(await chooseWhat(ui, 'local')).toEqual({
    recent: {
      ...{ profile: 'local', words: ['python', 'train.py'], nodes: 2, budget: 12, budgetStop: true },
      ...{ codeFolder: join(editor.folder, 'src'), slurm: { qos: 'high' } },
    },
    how: { wait: true, tensorboard: true },
  });
  expect(offered()).toContain('night');
  expect(offered()).not.toContain('elsewhere');
  await chooseWhat(ui, 'lab');
  expect(offered()).toContain('elsewhere');
});

it('offers none in a workspace that nobody trusts', async () => {
  editor.isTrusted = false;
  expect(await chooseWhat(ui, 'local')).toBeUndefined();
  expect(offered()).not.toContain('night');
  expect(offered().join()).not.toContain('presets');
  expect(offered()).toContain('make');
});

it('names what is wrong with their file, and the rest can be chosen', async () => {
  write({ version: 1, presets: [{ name: 'a', command: 'ls', rank: 2 }] });
  editor.answer = 'cannot be used';
  await expect(chooseWhat(ui, 'local')).rejects.toThrow(/trainyard\.json:1: .*"rank"/);
  editor.answer = 'make';
  expect(await chooseWhat(ui, 'local')).toEqual({ recent });
});

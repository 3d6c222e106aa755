// Which files of Python packages Run on Cluster… offers, and which one first.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { askPackages, packagesFor } from '../../../../src/ui/commands/start/askPackages.js';
import { temporaryFolder } from '../../support/temporary.js';

interface Item {
  label: string;
}
const editor = vi.hoisted(() => ({ offered: [] as string[], choose: 0 }));
vi.mock('vscode', () => ({
  workspace: { asRelativePath: (path: string) => path.split('/').at(-1) },
  window: {
    showQuickPick: (items: Item[]) => {
      editor.offered = items.map(({ label }) => label.replace(/^\S+ /, ''));
      return Promise.resolve(items[editor.choose]);
    },
  },
}));

const folder = temporaryFolder();
function write(name: string, text = ''): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

it('offers the files of the nearest folder that has any, and no pyproject.toml without packages', () => {
  const found = (path: string): string[] =>
    packagesFor(join(folder, path), folder).map((file) => file.slice(folder.length + 1));
  expect(found('src/deep/train.py')).toEqual([]);
  write('requirements.txt');
  write('uv.lock');
  write('poetry.lock');
  write('src/pyproject.toml', '[tool.ruff]\n');
  expect(found('src/deep/train.py')).toEqual(['requirements.txt', 'uv.lock']);
  write('src/pyproject.toml', '[project]\nname = "p"\ndependencies = []\n');
  write('src/pylock.toml');
  expect(found('src/deep/train.py')).toEqual(['src/pylock.toml', 'src/pyproject.toml']);
  expect(found('src/deep/train.sh')).toEqual([]);
});

it('offers first what was answered the last time, also before files had names', async () => {
  const files = ['/p/requirements.txt', '/p/uv.lock'];
  const ask = async (last?: string | boolean): Promise<unknown> => [
    await askPackages('Run on Cluster', files, last),
    ...editor.offered,
  ];
  const [first, second, none] = [
    'Those of requirements.txt',
    'Those of uv.lock',
    'Those That the Nodes Have',
  ];
  expect(await ask()).toEqual(['/p/requirements.txt', first, second, none]);
  expect(await ask(true)).toEqual(['/p/requirements.txt', first, second, none]);
  expect(await ask('uv.lock')).toEqual(['/p/uv.lock', second, first, none]);
  expect(await ask(false)).toEqual([false, none, first, second]);
  editor.choose = 9;
  expect(await ask()).toEqual([undefined, first, second, none]);
});

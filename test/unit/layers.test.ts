// Every rule of .dependency-cruiser.mjs finds what it forbids: a small tree in which each is
// broken.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { coreFolders } from '../../.dependency-cruiser.mjs';
import { temporaryFolder } from './support/temporary.js';

const root = join(import.meta.dirname, '../..');
const from = (path: string): string => `import { x } from '${path}'; export const y = x;\n`;

/**
 * What is allowed stands beside what is not, so that a rule which forbids too much shows as well.
 */
const tree: Record<string, string> = {
  'package.json': '{ "devDependencies": { "vscode": "1" } }',
  'node_modules/@types/vscode/package.json': '{ "name": "@types/vscode", "types": "index.d.ts" }',
  'node_modules/@types/vscode/index.d.ts': 'export declare const x: number;\n',
  'scripts/x.mjs': 'export const x = 1;\n',
  'scripts/bench.mjs': from('../test/a.js'),
  'scripts/lib/low.mjs': 'export const x = 1;\n',
  'scripts/lib/upwards.mjs': from('../native/fine.mjs'),
  'scripts/native/fine.mjs': from('../lib/low.mjs'),
  'scripts/editor/types.mjs': "/** @import { y } from '../native/fine.mjs' */\nexport const z = 1;\n",
  'test/a.ts': from('../src/core/base/low.js'),
  'test/other.ts': from('../src/other/leaf.js'),
  'src/core/base/low.ts': "import { sep } from 'node:path'; export const x = sep;\n",
  'src/core/base/fine.ts': from('./low.js'),
  'src/core/base/types.ts': "import type { x } from 'vscode'; export type Y = typeof x;\n",
  'src/core/base/dynamic.ts': "export const y = () => import('../../ui/fine.js');\n",
  'src/core/base/scripts.ts': from('../../../scripts/x.mjs'),
  'src/core/base/lost.ts': from('./nowhere.js'),
  'src/core/streams/a.ts': "import type { B } from './b.js'; export interface A { b: B }\n",
  'src/core/streams/b.ts': "import type { A } from './a.js'; export interface B { a: A }\n",
  'src/core/base/upwards.ts': from('../plan/fine.js'),
  'src/core/plan/fine.ts': from('../base/low.js'),
  'src/core/unknown/x.ts': from('../base/low.js'),
  'src/ui/unknown.ts': from('../core/unknown/x.js'),
  'src/ui/tree/a.ts': from('../panels/b.js'),
  'src/ui/panels/b.ts': from('./c.js'),
  'src/ui/panels/c.ts': 'export const x = 1;\n',
  'src/ui/panels/d.ts': from('../tree/e.js'),
  'src/ui/tree/e.ts': 'export const x = 1;\n',
  'src/webview/protocol.ts': 'export const x = 1;\n',
  'src/webview/page.ts': 'export const x = 1;\n',
  'src/webview/reaching.ts': from('../core/base/low.js'),
  'src/contributions.ts':
    "import type { x } from './core/base/low.js'; export type Y = typeof x;\n" + from('./core/base/fine.js'),
  'src/cli/fine.ts':
    "import { x } from '../core/base/low.js'; import p from '../../package.json'; export { x, p };\n",
  'src/cli/reaching.ts': from('../contributions.js'),
  'src/ui/fine.ts':
    "import { x } from '../webview/protocol.js'; import * as v from 'vscode'; import * as c from '../core/base/low.js';\n" +
    'export { x, v, c };\n',
  'src/ui/reaching.ts': from('../webview/page.js'),
  'src/ui/upwards.ts': from('../extension.js'),
  'src/extension.ts':
    "import { x } from './ui/fine.js'; import * as v from 'vscode'; export { x, v };\n" +
    from('./cli/fine.js'),
  'src/other/leaf.ts': 'export const x = 1;\n',
  'src/other/importing.ts': from('../core/base/low.js'),
  'src/other/alone.ts': 'const x = 1; void x;\n',
};

const broken = [
  'contributions-take-types-only: src/contributions.ts > src/core/base/fine.ts',
  'core-base: src/core/base/upwards.ts > src/core/plan/fine.ts',
  'layer-cli: src/cli/reaching.ts > src/contributions.ts',
  'layer-core: src/core/base/dynamic.ts > src/ui/fine.ts',
  'layer-core: src/core/base/lost.ts > ./nowhere.js',
  'layer-core: src/core/base/scripts.ts > scripts/x.mjs',
  'layer-core: src/core/base/types.ts > node_modules/@types/vscode/index.d.ts',
  'layer-extension: src/extension.ts > src/cli/fine.ts',
  'layer-ui: src/ui/reaching.ts > src/webview/page.ts',
  'layer-ui: src/ui/upwards.ts > src/extension.ts',
  'layer-webview: src/webview/reaching.ts > src/core/base/low.ts',
  'no-circles: src/core/streams/a.ts > src/core/streams/b.ts',
  'no-unknown-core-folder: src/ui/unknown.ts > src/core/unknown/x.ts',
  'no-unknown-layer-alone: src/other/alone.ts > src/other/alone.ts',
  'no-unknown-layer-imported: test/other.ts > src/other/leaf.ts',
  'no-unknown-layer-importing: src/other/importing.ts > src/core/base/low.ts',
  'no-unresolved: src/core/base/lost.ts > ./nowhere.js',
  'scripts-editor: scripts/editor/types.mjs > scripts/native/fine.mjs',
  'scripts-lib: scripts/lib/upwards.mjs > scripts/native/fine.mjs',
  'scripts-without-tests: scripts/bench.mjs > test/a.ts',
];

it('docs/architecture.md lists the folders of the core, in their order', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const [, after = ''] = page.split('The folders of `src/core`, from the lowest up.');
  const [table = ''] = after.split('\n`.dependency-cruiser.mjs`');
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  // `ssh/base` stands in the row of `ssh`.
  const folders = [...new Set(coreFolders.map((folder) => folder.split('/')[0]))];
  expect(rows).toEqual(folders);
});

interface Cruise {
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

it('each rule of the layers finds what breaks it, and nothing else', () => {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of ['.dependency-cruiser.mjs', 'tsconfig.json']) {
    copyFileSync(join(root, name), join(folder, name));
  }
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const words = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src', 'test', 'scripts'];
  const text = execFileSync(process.execPath, [program, ...words], { cwd: folder, encoding: 'utf8' });
  const { violations } = (JSON.parse(text) as Cruise).summary;
  const found = violations.map(({ rule, from, to }) => `${rule.name}: ${from} > ${to}`);
  const ofFolders = 'no-circles-of-folders: ';
  expect(found.filter((each) => !each.startsWith(ofFolders)).sort()).toEqual(broken);
  // The files above that break a rule make circles of their folders too; these two make nothing
  // else.
  expect(found).toContain('no-circles-of-folders: src/ui/panels > src/ui/tree');
  expect(found).toContain('no-circles-of-folders: src/ui/tree > src/ui/panels');
});

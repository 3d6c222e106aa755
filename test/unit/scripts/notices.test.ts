import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundledFolders, noticeOf, notices } from '../../../scripts/build/notices.mjs';

/** What esbuild says of a bundle, as far as it is read. */
const metafileOf = (...files: string[]) => ({
  inputs: Object.fromEntries(files.map((file) => [file, { bytes: 1, imports: [] }])),
  outputs: {},
});

describe('the licences of what a package carries', () => {
  it('are those of each package of which a bundle has a file, and of no other', () => {
    const folders = bundledFolders([
      metafileOf('src/extension.ts', 'node_modules/lit/index.js', 'node_modules/lit/html.js'),
      metafileOf(
        'node_modules/@vscode/codicons/dist/codicon.css',
        'node_modules/tar/node_modules/yallist/index.js',
      ),
    ]);
    expect(folders).toEqual([
      'node_modules/@vscode/codicons',
      'node_modules/lit',
      'node_modules/tar/node_modules/yallist',
    ]);
  });

  it('have name, version and text, once a package', () => {
    const text = notices([metafileOf('node_modules/uplot/a.js'), metafileOf('node_modules/uplot/b.js')], {
      native: false,
    });
    expect(text.match(/^uplot \d+\.\d+\.\d+ \(MIT\)$/gm)).toHaveLength(1);
    expect(text).toContain('Copyright (c) 2022 Leon Sorokin');
    expect(text).not.toContain('libjpeg-turbo');
    expect(text).not.toContain('NVIDIA');
  });

  it('name what a package has inside its own bundle', () => {
    const text = notices([metafileOf('node_modules/tar/dist/esm/index.min.js')], { native: false });
    for (const name of ['tar', 'minipass', 'minizlib', 'yallist', 'chownr', '@isaacs/fs-minipass']) {
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
  });

  it('refuse a package that has no text of its licence, by its name', () => {
    const base = mkdtempSync(join(tmpdir(), 'trainyard-notices-'));
    try {
      mkdirSync(join(base, 'bare'));
      writeFileSync(join(base, 'bare/package.json'), '{"name":"bare","version":"1.0.0","license":"MIT"}');
      expect(() => noticeOf('bare', base)).toThrow('bare has no file with its licence');
      writeFileSync(join(base, 'bare/LICENCE.md'), 'Do as you like.\n');
      expect(noticeOf('bare', base)).toEqual({ name: 'bare 1.0.0', licence: 'MIT', text: 'Do as you like.' });
    } finally {
      rmSync(base, { recursive: true });
    }
  });
});

// The bundle that the editor waits for at its start: libraries are in the lazy one.
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

it('has no library in it', async () => {
  const { metafile } = await build({
    entryPoints: ['src/extension.ts'],
    bundle: true,
    minify: true, // what is not used goes, as in the package
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    mainFields: ['module', 'main'],
    metafile: true,
    external: ['vscode', './lazy.js'], // as scripts/build/build.mjs has them
    outfile: 'extension.js',
    logLevel: 'silent',
    absWorkingDir: root,
  });
  const used = Object.entries(metafile.outputs['extension.js']?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
  expect(used).toContain('src/extension.ts');
  expect(used.filter((path) => path.includes('node_modules/'))).toEqual([]);
});

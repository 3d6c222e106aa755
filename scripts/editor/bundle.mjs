// Bundles what runs inside the editor in tests: the driver extension and the suite. Returns where
// they are. Files are replaced by rename, since the editor of another test file may be reading one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../lib/paths.mjs';
import { replaceFile } from '../lib/replaceFile.mjs';

/** @import { BuildOptions } from 'esbuild' */

export async function bundleEditorTests() {
  const folder = join(root, 'build', 'test', 'editor');
  const driver = join(folder, 'driver');
  const suite = join(folder, 'suite.js');
  /** @satisfies {BuildOptions} */
  const shared = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'warning',
    write: false,
  };
  const made = await Promise.all([
    build({
      ...shared,
      entryPoints: [join(root, 'test/editor/driver/main.ts')],
      outfile: join(driver, 'main.js'),
      external: ['vscode'],
    }),
    build({
      ...shared,
      entryPoints: [join(root, 'test/editor/host/run.ts')],
      outfile: suite,
      external: ['vscode', 'mocha'],
    }),
  ]);
  for (const { outputFiles } of made)
    for (const { path, contents } of outputFiles) replaceFile(path, contents);
  replaceFile(join(driver, 'package.json'), readFileSync(join(root, 'test/editor/driver/package.json')));
  return { driver, suite };
}

// Bundles what runs inside the editor in tests: the driver extension and the suite. Returns where
// they are.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../lib/paths.mjs';

/** @import { BuildOptions } from 'esbuild' */

export async function bundleEditorTests() {
  const folder = join(root, 'build', 'test', 'editor');
  const driver = join(folder, 'driver');
  const suite = join(folder, 'suite.js');
  mkdirSync(driver, { recursive: true });
  /** @satisfies {BuildOptions} */
  const shared = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };
  await build({
    ...shared,
    entryPoints: [join(root, 'test/editor/driver/main.ts')],
    outfile: join(driver, 'main.js'),
    external: ['vscode'],
  });
  await build({
    ...shared,
    entryPoints: [join(root, 'test/editor/host/run.ts')],
    outfile: suite,
    external: ['vscode', 'mocha'],
  });
  copyFileSync(join(root, 'test/editor/driver/package.json'), join(driver, 'package.json'));
  return { driver, suite };
}

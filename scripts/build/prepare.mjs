// From a bare clone to something that runs: npm's packages, the native programs, the bundles.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNative } from '../native/native.mjs';
import { root } from '../lib/paths.mjs';
import { run, step } from '../lib/shell.mjs';

const cli = join(root, 'dist', 'trainyard.cjs');

/**
 * Installs what package-lock.json names, unless that very lock file was installed here before. No
 * package needs its install script: they would only compile parts that the bundles leave out.
 */
export function ensurePackages() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const marker = join(root, 'node_modules', '.trainyard-lock');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  step('npm packages');
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(marker, lock);
}

/**
 * Everything `npm run build` makes, plus what it needs. Returns the path of the command-line tool.
 */
export function ensureBuilt() {
  ensurePackages();
  buildNative();
  run(process.execPath, [join(root, 'scripts/build/build.mjs')], { cwd: root, stdio: ['ignore', 2, 2] });
  return cli;
}

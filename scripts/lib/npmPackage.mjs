// A package of npm that is taken as it is, after its bytes were compared with what is pinned.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { capture, run } from './shell.mjs';

/**
 * Unpacks it into `folder`. None of its scripts run.
 * @param {{ name: string, integrity: string }} pack
 * @param {string} folder
 */
export function unpackPackage({ name, integrity }, folder) {
  mkdirSync(folder, { recursive: true });
  const packed = capture('npm', ['pack', name, '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
  });
  if (!packed.ok) throw new Error(`npm pack ${name} failed: ${packed.stderr.trim()}`);
  const archive = join(folder, JSON.parse(packed.stdout)[0].filename);
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} is not what is pinned: ${found} instead of ${integrity}`);
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', '--no-same-owner']);
  rmSync(archive);
}

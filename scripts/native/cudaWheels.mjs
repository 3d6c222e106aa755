// NVIDIA's wheels in the user's cache, by what they are made from.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cache, toolchainLink } from '../lib/paths.mjs';
import { step } from '../lib/shell.mjs';
import { madeOnce } from './madeOnce.mjs';
import { pipInstall } from './pip.mjs';

/**
 * Linkers look for libX.so, wheels bring only libX.so.N.
 * @param {string} folder
 */
export function linkUnversioned(folder) {
  for (const name of readdirSync(folder)) {
    const plain = /^(lib.+\.so)\.\d+$/.exec(name)?.[1];
    if (plain && !existsSync(join(folder, plain))) symlinkSync(name, join(folder, plain));
  }
}

/**
 * The folder of wheels that are made once. `what`: said when they are. `requirements`: a file of
 * pinned wheels. `arrange` gets their `nvidia` folder. `more`: what else it is made from.
 * @param {{ what: string, requirements: string, arrange: (nvidia: string) => void, more?: string, pip?: string[] }} wheels
 * @returns {{ hash: string, folder: string }}
 */
export function ensureWheels({ what, requirements, arrange, more = '', pip = [] }) {
  const hash = createHash('sha256')
    .update(readFileSync(requirements))
    .update(more)
    .digest('hex')
    .slice(0, 16);
  const folder = join(cache, 'cuda', hash);
  madeOnce(folder, (temporary) => {
    step(what);
    const python = join(toolchainLink, 'venv/bin/python');
    const words = ['--no-deps', ...pip, '--target', temporary];
    pipInstall({ python, requirements, folder: temporary, words });
    arrange(temporary);
  });
  return { hash, folder };
}

/**
 * Makes `link` point at `folder`.
 * @param {string} link
 * @param {string} folder
 */
export function pointAt(link, folder) {
  rmSync(link, { force: true });
  symlinkSync(folder, link);
}

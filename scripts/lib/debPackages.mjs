// Debian's packages, unpacked into the user's cache without installing them.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './paths.mjs';
import { capture, run } from './shell.mjs';

/** @type {Partial<Record<NodeJS.Architecture, string>>} */
const triplets = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
export const triplet = triplets[process.arch] ?? '';

/**
 * Fetches the first of these names that there is, and unpacks it below `root`.
 * @param {readonly [string, ...string[]]} names
 * @param {string} root
 */
export function unpackPackage(names, root) {
  const folder = join(root, 'debs');
  mkdirSync(folder, { recursive: true });
  const got = names.find((name) => capture('apt-get', ['download', '-q', name], { cwd: folder }).ok);
  if (got === undefined)
    throw new Error(
      `apt-get download ${names[0]} failed. Install the package ${names[0]}, or run apt-get update.`,
    );
  for (const deb of readdirSync(folder)) run('dpkg', ['-x', join(folder, deb), root]);
  rmSync(folder, { recursive: true });
}

/**
 * The folder with these packages, made once on a machine. An error names the package that is
 * missing.
 * @param {readonly [string, ...string[]]} names
 */
export function cachedPackages(names) {
  return cachedTree(names[0], (tree) => {
    for (const name of names) unpackPackage([name], tree);
  });
}

/**
 * The folder of unpacked packages that `fill` makes, whole or not at all, once on a machine.
 * @param {string} name
 * @param {(tree: string) => void} fill
 */
export function cachedTree(name, fill) {
  const root = join(cache, 'packages', name);
  if (existsSync(root)) return root;
  const temporary = `${root}.partial-${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    fill(temporary);
    if (!existsSync(root)) renameSync(temporary, root);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return root;
}

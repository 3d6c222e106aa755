// What has to hold before a version is published, and then the packages and the commands that send
// them. It sends nothing itself, since that takes the publisher's tokens and cannot be undone.
//   npm run release [-- --pre-release]
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { targets } from './packageTargets.mjs';
import { root } from '../lib/paths.mjs';
import { capture, main, run } from '../lib/shell.mjs';

/**
 * @typedef {{
 *   manifest: { name: string, version: string, icon?: string, repository?: unknown },
 *   changelog: string,
 *   changed: string,
 *   tags: readonly string[],
 *   iconWidth: number | undefined,
 * }} State
 * `changed`: what git says is not committed. `iconWidth` in pixels, undefined where there is none.
 */

/** Pixels that the Marketplace wants of an icon at least. */
const leastIcon = 128;

/**
 * One line for each thing that stands in the way, with what to do.
 * @param {State} state
 */
export function obstacles({ manifest, changelog, changed, tags, iconWidth }) {
  const { version } = manifest;
  const [, newest = '', date = ''] = /^## (\S+) \(([^)]*)\)/m.exec(changelog) ?? [];
  return [
    ...(changed === '' ? [] : ['the tree has changes that are not committed: commit or undo them']),
    ...(tags.includes(`v${version}`) ? [] : [`this commit has no tag v${version}: git tag v${version}`]),
    ...(newest === version && /^\d{4}-\d\d-\d\d$/.test(date)
      ? []
      : [
          `CHANGELOG.md begins with "${newest} (${date})": its first heading has to be ${version} with a date`,
        ]),
    ...(manifest.repository === undefined
      ? ['package.json has no "repository": links and pictures of the README are made from its address']
      : []),
    ...(iconWidth !== undefined && iconWidth >= leastIcon
      ? []
      : [`package.json needs an "icon", a PNG of ${leastIcon} pixels or more`]),
  ];
}

/**
 * Width in pixels of a PNG file, by its header.
 * @param {string | undefined} path
 */
function widthOf(path) {
  if (path === undefined || !existsSync(join(root, path))) return undefined;
  const bytes = readFileSync(join(root, path));
  return bytes.toString('latin1', 1, 4) === 'PNG' ? bytes.readUInt32BE(16) : undefined;
}

/** @returns {State} */
function currentState() {
  /** @type {State['manifest']} */
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const git = (/** @type {string[]} */ ...words) => capture('git', words, { cwd: root }).stdout.trim();
  return {
    manifest,
    changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    changed: git('status', '--porcelain'),
    tags: git('tag', '--points-at', 'HEAD').split('\n'),
    iconWidth: widthOf(manifest.icon),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(() => {
    const { values } = parseArgs({ options: { 'pre-release': { type: 'boolean', default: false } } });
    const state = currentState();
    const wrong = obstacles(state);
    if (wrong.length > 0)
      throw new Error(`this cannot be published yet:\n${wrong.map((line) => `- ${line}`).join('\n')}`);
    const flags = values['pre-release'] ? ['--pre-release'] : [];
    run(process.execPath, [join(root, 'scripts/build/package.mjs'), '--target', 'all', ...flags], {
      cwd: root,
    });
    const { name, version } = state.manifest;
    const files = targets.map((target) => `build/${name}-${target}-${version}.vsix`).join(' ');
    process.stdout.write(`
Send them with the publisher's tokens in VSCE_PAT and OVSX_PAT:
  npx vsce publish ${flags.join(' ')} --packagePath ${files}
  npx ovsx publish ${flags.join(' ')} --packagePath ${files}
`);
  });
}

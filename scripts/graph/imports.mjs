// Which folder of src imports which, as dependency-cruiser sees every import.
import { dirname } from 'node:path/posix';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import config from '../../.dependency-cruiser.mjs';

/** @import { ICruiseOptions, ICruiseResult } from 'dependency-cruiser' */

/**
 * @typedef {{ path: string, files: string[] }} Folder
 * @typedef {{ from: string, to: string, typesOnly: boolean }} Edge
 * @typedef {{ folders: Folder[], edges: Edge[] }} Graph
 */

/**
 * A file directly in src stands for itself, any other for its folder, at most two levels deep.
 * @param {string} path
 */
function placeOf(path) {
  const folder = dirname(path);
  return folder === 'src' ? path : folder.split('/').slice(0, 3).join('/');
}

/**
 * `folders`: each with the paths of its `files`. `edges`: one for each pair of which the first
 * imports the second, `typesOnly` where it imports types alone. Both are sorted by name.
 * @param {string} root
 * @returns {Promise<Graph>}
 */
export async function folderImports(root) {
  const { tsConfig, ...options } = config.options;
  const asked = /** @type {ICruiseOptions} */ (options);
  const cruised = await cruise(['src'], { ...asked, baseDir: root, includeOnly: '^src/' }, undefined, {
    tsConfig: extractTSConfig(`${root}/${tsConfig.fileName}`),
  });
  const { modules } = /** @type {ICruiseResult} */ (cruised.output); // without an output type it is no text
  /** @type {Map<string, string[]>} */
  const folders = new Map();
  /** @type {Map<string, Edge>} */
  const edges = new Map();
  for (const { source, dependencies } of modules) {
    const from = placeOf(source);
    folders.set(from, [...(folders.get(from) ?? []), source]);
    for (const { resolved, dependencyTypes } of dependencies) {
      const to = placeOf(resolved);
      if (to === from) continue;
      const key = `${from} ${to}`;
      const typesOnly = dependencyTypes.includes('type-only') && (edges.get(key)?.typesOnly ?? true);
      edges.set(key, { from, to, typesOnly });
    }
  }
  /**
   * @param {readonly [string, unknown]} a
   * @param {readonly [string, unknown]} b
   */
  const byName = ([a], [b]) => (a < b ? -1 : 1);
  return {
    folders: [...folders].sort(byName).map(([path, files]) => ({ path, files })),
    edges: [...edges].sort(byName).map(([, edge]) => edge),
  };
}

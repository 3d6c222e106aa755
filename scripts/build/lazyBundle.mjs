// The bundle that the editor's side loads at the first need, in files: lazy.js, what it shares with
// the others, and one file for each dynamic import, which is loaded when that import is met. A class
// is in one file only, so `instanceof` holds between them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { transform } from 'esbuild';
import { root } from '../lib/paths.mjs';

/** @import { BuildOptions, OutputFile, Plugin } from 'esbuild' */

const dist = join(root, 'dist');
const isOurs = /^lazy(-.*)?\.js(\.map)?$/;

/**
 * esbuild splits modules of ECMAScript only, and VS Code loads CommonJS. So each file is written as
 * CommonJS in a second step. Files of an earlier build go.
 * @param {{ minify: boolean, sourcemap: boolean }} how
 * @returns {Plugin}
 */
const asCommonJs = ({ minify, sourcemap }) => ({
  name: 'as-common-js',
  setup: ({ onEnd }) => {
    onEnd(async ({ errors, outputFiles = [] }) => {
      if (errors.length > 0) return;
      const made = await Promise.all(outputFiles.map((file) => commonJsOf(file, { minify, sourcemap })));
      for (const name of readdirSync(dist)) {
        if (isOurs.test(name) && !made.some((file) => file.name === name)) rmSync(join(dist, name));
      }
      for (const { name, text } of made.flat()) writeFileSync(join(dist, name), text);
    });
  },
});

/**
 * @param {OutputFile} file
 * @param {{ minify: boolean, sourcemap: boolean }} how
 */
async function commonJsOf({ path, text }, { minify, sourcemap }) {
  const name = basename(path);
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    supported: { 'dynamic-import': false }, // by require, which takes a third of the time of an import
    minify,
    sourcefile: name,
    sourcemap: sourcemap ? 'inline' : false,
  });
  return { name, text: code };
}

/**
 * esbuild's options for it.
 * @param {BuildOptions} shared those of every bundle of the build
 * @returns {BuildOptions}
 */
export const lazyBundle = (shared) => ({
  ...shared,
  entryPoints: ['src/ui/lazy.ts'],
  outdir: 'dist',
  external: ['vscode'],
  format: 'esm',
  splitting: true,
  chunkNames: 'lazy-[name]-[hash]',
  write: false,
  sourcemap: shared.sourcemap === false ? false : 'inline',
  plugins: [
    ...(shared.plugins ?? []),
    asCommonJs({ minify: shared.minify === true, sourcemap: shared.sourcemap !== false }),
  ],
});

/** A file that another loads at once. What is behind an arrow is loaded later. */
const loadedAtOnce = /(?<!=>\s*(?:[\w$]+\()?)\brequire\(["']\.\/(lazy-[^"']+\.js)["']\)/g;

/**
 * Names of lazy.js and the files that it loads at once, of the build in `folder`.
 * @param {string} [folder]
 */
export function loadedWithLazy(folder = dist) {
  const names = new Set(['lazy.js']);
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, other] of text.matchAll(loadedAtOnce)) if (other) names.add(other);
  }
  return [...names];
}

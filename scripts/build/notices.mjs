// The licences of the code of others that a package carries, as one text:
// dist/ThirdPartyNotices.txt. esbuild says which packages of JavaScript it bundled. The toolchain
// has the texts of the libraries that are linked into the native programs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchainLink } from '../lib/paths.mjs';

/** @import { Metafile } from 'esbuild' */

/** @typedef {{ name: string, licence: string, text: string }} Notice */
/**
 * What is read of a package.json.
 * @typedef {{
 *   name: string,
 *   version: string,
 *   license?: string,
 *   licenses?: { type: string }[],
 *   dependencies?: Record<string, string>,
 * }} Manifest
 */

/** Read in this order, since a package may have one for its code and one for what it draws. */
const isLicence = /^(licen[cs]e|copying|notice)([-.].*)?$/i;

/** Packages that have others inside their own bundle, where esbuild does not see them. */
const prebundled = ['tar'];

/**
 * Folders of packages, of which a bundle has at least one file.
 * @param {readonly Metafile[]} metafiles
 */
export function bundledFolders(metafiles) {
  const files = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/**
 * @param {string} folder
 * @param {string} [base] what the folder is below
 */
function manifestOf(folder, base = root) {
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync(join(base, folder, 'package.json'), 'utf8'));
  return manifest;
}

/**
 * The packages that one needs, at any depth, which npm put at the top.
 * @param {string} folder
 * @returns {string[]}
 */
function needed(folder) {
  return Object.keys(manifestOf(folder).dependencies ?? {}).flatMap((name) => {
    const nested = `${folder}/node_modules/${name}`;
    const own = existsSync(join(root, nested)) ? nested : `node_modules/${name}`;
    return [own, ...needed(own)];
  });
}

/**
 * Name, version, licence and its text, of a package in `folder`.
 * @param {string} folder
 * @param {string} [base] what the folder is below
 * @returns {Notice}
 */
export function noticeOf(folder, base = root) {
  const { name, version, license, licenses } = manifestOf(folder, base);
  const files = readdirSync(join(base, folder))
    .filter((file) => isLicence.test(file))
    .sort();
  if (files.length === 0)
    throw new Error(
      `${folder} has no file with its licence, and a package may not carry it without. Take another version or another library.`,
    );
  return {
    name: `${name} ${version}`,
    licence: license ?? licenses?.map(({ type }) => type).join(', ') ?? 'see below',
    text: files.map((file) => readFileSync(join(base, folder, file), 'utf8').trim()).join('\n\n'),
  };
}

/** The libraries that the native programs are linked with, and their licences in the toolchain. */
const linked = [
  ['CLI11', 'sys/usr/share/doc/libcli11-dev/copyright'],
  ['libjpeg-turbo', 'sys/usr/share/doc/libturbojpeg0-dev/copyright'],
  ['libpng', 'sys/usr/share/doc/libpng-dev/copyright'],
  ['nlohmann-json', 'sys/usr/share/doc/nlohmann-json3-dev/copyright'],
  ['protozero', 'sys/usr/share/doc/libprotozero-dev/copyright'],
  ['zlib', 'sys/usr/share/doc/zlib1g-dev/copyright'],
  ['libc++', 'venv/zig/lib/libcxx/LICENSE.TXT'],
  ['libc++abi', 'venv/zig/lib/libcxxabi/LICENSE.TXT'],
  ['libunwind', 'venv/zig/lib/libunwind/LICENSE.TXT'],
  ["Zig's compiler-rt", 'venv/zig/LICENSE'],
];

const cudaRuntime = `libtrainer_cuda.so contains NVIDIA's CUDA runtime (libcudart_static.a), which attachment A of the
CUDA Toolkit's licence names as redistributable: https://docs.nvidia.com/cuda/eula/index.html
It is copyright of NVIDIA Corporation. Its other libraries are not in this package.`;

/** @returns {Notice[]} */
function ofNative() {
  return linked.map(([name = '', path = '']) => ({
    name,
    licence: 'linked into the programs for nodes',
    text: readFileSync(join(toolchainLink, path), 'utf8').trim(),
  }));
}

/**
 * The whole text.
 * @param {readonly Metafile[]} metafiles of every bundle
 * @param {{ native: boolean }} options whether the native programs are carried
 */
export function notices(metafiles, { native }) {
  const seen = bundledFolders(metafiles);
  const inside = seen.filter((folder) => prebundled.includes(manifestOf(folder).name)).flatMap(needed);
  const packages = [...new Set([...seen, ...inside])].sort().map((folder) => noticeOf(folder));
  const parts = [...packages, ...(native ? ofNative() : [])];
  const rule = '='.repeat(80);
  return [
    'Trainyard contains or is linked with what others wrote, under the licences below.',
    ...parts.map(({ name, licence, text }) => `${rule}\n${name} (${licence})\n${rule}\n\n${text}`),
    ...(native ? [`${rule}\nNVIDIA CUDA runtime\n${rule}\n\n${cudaRuntime}`] : []),
    '',
  ].join('\n\n');
}

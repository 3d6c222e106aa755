// Bundles the extension, the command-line tool and the dashboard's page into dist/, with the native
// programs beside them when they are built.
//   node scripts/build/build.mjs [--production] [--watch]
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { build, context } from 'esbuild';
import { dashboardBundle } from './dashboardBundle.mjs';
import { lazyBundle } from './lazyBundle.mjs';
import { notices } from './notices.mjs';
import { root } from '../lib/paths.mjs';
import { ptyFiles, windowsHelpers } from './packageTargets.mjs';

/** @import { BuildOptions, Plugin } from 'esbuild' */

const dist = join(root, 'dist');
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

/**
 * Bundles of their own beside the others, loaded at the first connection and the first copy.
 * @type {Plugin}
 */
const librariesApart = {
  name: 'libraries-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^(ssh2|tar)$/ }, ({ path }) => ({ path: `./${path}.cjs`, external: true }));
  },
};

/** @satisfies {BuildOptions} */
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  mainFields: ['module', 'main'], // jsonc-parser's main is a UMD file whose requires cannot be bundled
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: watch ? 'info' : 'warning',
  absWorkingDir: root,
};

/** @type {BuildOptions[]} */
const bundles = [
  // Its one dynamic import stays one: the editor waits for this bundle, and only for this.
  {
    ...shared,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    external: ['vscode', './lazy.js'],
  },
  lazyBundle({ ...shared, plugins: [librariesApart] }),
  {
    ...shared,
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/trainyard.cjs',
    external: ['./mcpSdk.js'],
    plugins: [librariesApart],
    banner: { js: '#!/usr/bin/env node' },
  },
  // The command line's one dynamic import: only `trainyard mcp` waits for it.
  {
    ...shared,
    entryPoints: ['src/cli/mcp/mcpSdk.ts'],
    outfile: 'dist/mcpSdk.js',
    minify: true,
    sourcemap: false,
  },
  // Apart, because it loads a binary from the folder beside it, and only when a terminal opens.
  {
    ...shared,
    entryPoints: ['node_modules/node-pty/lib/index.js'],
    outfile: 'dist/node-pty.cjs',
    sourcemap: false,
  },
  ...windowsHelpers.map((file) => ({
    ...shared,
    entryPoints: [`node_modules/node-pty/lib/${file}`],
    outfile: `dist/${file}`,
    sourcemap: false,
  })),
  // Without the optional native parts: Node's own ciphers are as fast.
  {
    ...shared,
    entryPoints: ['node_modules/ssh2/lib/index.js'],
    outfile: 'dist/ssh2.cjs',
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
    sourcemap: false,
  },
  {
    ...shared,
    entryPoints: ['node_modules/tar/dist/esm/index.min.js'],
    outfile: 'dist/tar.cjs',
    sourcemap: false,
  },
  { ...shared, ...dashboardBundle },
];

/**
 * Every program of a folder of the sources, and of the folders in it, into one of share/.
 * @param {string} folder
 * @param {string} to
 */
const programs = (folder, to) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.py'))
    .map((name) => ({ from: join(root, folder, name), to: `share/${to}/${name}`, mode: 0o644 }));

const programsFolder = join(root, 'build/native/release/node/bin');
const ptyBinaries = Object.entries(ptyFiles).flatMap(([platform, files]) =>
  files.map((file) => {
    const to = `prebuilds/${platform}/${file}`;
    const mode = file === 'spawn-helper' ? 0o755 : 0o644;
    return { from: join(root, 'node_modules/node-pty', to), to, mode };
  }),
);
const carried = [
  ...ptyBinaries,
  { from: join(programsFolder, 'agent'), to: 'bin/agent', mode: 0o755 },
  { from: join(programsFolder, 'trainer'), to: 'bin/trainer', mode: 0o755 },
  { from: join(programsFolder, 'mpiexec_control.so'), to: 'bin/mpiexec_control.so', mode: 0o644 },
  {
    from: join(root, 'native/agent/tensorboard/tensorboard_server.py'),
    to: 'share/tensorboard_server.py',
    mode: 0o755,
  },
  { from: join(root, 'native/agent/notify/notify.py'), to: 'share/notify.py', mode: 0o644 },
  ...programs('native/agent/slurm', 'slurm'),
  ...programs('native/trainer/data/fetch', 'fetch'),
  { from: join(root, 'native/runtime/requirements.txt'), to: 'share/requirements.txt', mode: 0o644 },
  { from: join(root, 'native/runtime/cuda.txt'), to: 'share/cuda.txt', mode: 0o644 },
  { from: join(root, 'native/runtime/cuda12.txt'), to: 'share/cuda12.txt', mode: 0o644 },
  ...['cuda', 'cuda12'].map((folder) => {
    const to = `${folder}/libtrainer_cuda.so`;
    return { from: join(programsFolder, '..', to), to, mode: 0o644 };
  }),
  { from: join(root, 'native/runtime/pip.txt'), to: 'share/pip.txt', mode: 0o644 },
  ...programs('native/node', 'node'),
];

/**
 * By rename, because the file that is replaced may be running. What is not built must not stay
 * behind from before.
 */
function carryNative() {
  for (const { from, to, mode } of carried) {
    const target = join(dist, to);
    if (!existsSync(from)) {
      rmSync(target, { force: true });
      continue;
    }
    mkdirSync(resolve(target, '..'), { recursive: true });
    const temporary = `${target}.${process.pid}`;
    copyFileSync(from, temporary);
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  }
  // Files of an older version, whose names are gone, are removed. A name with a number at its end is
  // of a build that runs beside this one.
  const known = new Set(carried.map(({ to }) => to));
  for (const name of readdirSync(join(dist, 'share'), { recursive: true, encoding: 'utf8' })) {
    const path = join(dist, 'share', name);
    if (known.has(`share/${name}`) || /\.\d+$/.test(name)) continue;
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(path, { force: true });
  }
}

carryNative();
if (watch) {
  for (const options of bundles) await (await context(options)).watch();
} else {
  if (production)
    for (const name of [
      'extension.js.map',
      'trainyard.cjs.map',
      'webview/dashboard.js.map',
      'webview/dashboard.css.map',
      'webview/compare.js.map',
      'webview/compare.css.map',
      'webview/form.js.map',
      'webview/form.css.map',
    ]) {
      rmSync(join(dist, name), { force: true });
    }
  const made = await Promise.all(bundles.map((options) => build({ ...options, metafile: true })));
  const native = existsSync(join(dist, 'bin/trainer'));
  const metafiles = made.map(({ metafile }) => metafile);
  writeFileSync(join(dist, 'ThirdPartyNotices.txt'), notices(metafiles, { native }));
  chmodSync(join(dist, 'trainyard.cjs'), 0o755);
}

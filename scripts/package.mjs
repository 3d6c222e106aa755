// Makes the VSIX, and refuses one that carries what does not belong in it.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVSIX, listFiles } from '@vscode/vsce';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const permitted = [
  /^package\.json$/,
  /^(LICENSE|README\.md|CHANGELOG\.md)$/,
  /^media\/[^/]+\.(svg|png|json)$/,
  /^media\/walkthrough\/[^/]+\.md$/,
  /^dist\/(node-pty\.cjs|prebuilds\/linux-x64\/pty\.node)$/,
  /^dist\/(extension\.js|lazy\.js|trainyard\.cjs|ssh2\.cjs|tar\.cjs)$/,
  /^dist\/webview\/(dashboard\.(js|css)|codicon\.ttf)$/,
  /^dist\/bin\/(agent|trainer)$/,
  /^dist\/cuda\/libtrainer_cuda\.so$/, // ours; NVIDIA's libraries never
  /^dist\/share\/(tensorboard_server\.py|(requirements|cuda|pip)\.txt|(node|fetch)\/[a-z]+\.py)$/,
];

// With the native programs it is for the one platform that they run on; without, for none in particular.
const native = ['agent', 'trainer'].every((program) =>
  existsSync(join(root, 'build/native/release/node/bin', program)),
);
const target = native ? 'linux-x64' : undefined;
mkdirSync(join(root, 'build'), { recursive: true });
const packagePath = join(root, 'build', `${name}${target ? `-${target}` : ''}-${version}.vsix`);

// Builds dist/ first, by vscode:prepublish.
await createVSIX({
  cwd: root,
  packagePath,
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
  ...(target ? { target } : {}),
});

const files = await listFiles({ cwd: root, dependencies: false });
const strangers = files.filter((file) => !permitted.some((pattern) => pattern.test(file)));
const wanted = [
  'package.json',
  'LICENSE',
  'dist/extension.js',
  'dist/lazy.js',
  'dist/trainyard.cjs',
  'dist/ssh2.cjs',
  'dist/tar.cjs',
  'dist/webview/dashboard.js',
  'dist/webview/dashboard.css',
  'dist/webview/codicon.ttf',
  'media/profiles.schema.json',
  ...(native ? ['dist/share/fetch/download.py'] : []),
];
const missing = wanted.filter((file) => !files.includes(file));
if (strangers.length > 0) process.stderr.write(`does not belong in the package: ${strangers.join(', ')}\n`);
if (missing.length > 0) process.stderr.write(`missing from the package: ${missing.join(', ')}\n`);
if (strangers.length > 0 || missing.length > 0) {
  rmSync(packagePath);
  process.exit(1);
}
process.stdout.write(`${packagePath}\n${files.map((file) => `  ${file}\n`).join('')}`);

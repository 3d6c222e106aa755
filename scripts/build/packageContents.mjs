// What belongs in a package, and what must be in none: told by names and by bytes.
import { homedir } from 'node:os';
import { filesOf } from './packageTargets.mjs';
import { root } from '../lib/paths.mjs';

const permitted = [
  /^package\.json$/,
  /^(LICENSE|README\.md|CHANGELOG\.md)$/,
  /^dist\/ThirdPartyNotices\.txt$/,
  /^media\/[^/]+\.(svg|png|json)$/,
  /^media\/walkthrough\/[^/]+\.md$/,
  /^dist\/(extension\.js|lazy(-[\w-]+)?\.js|mcpSdk\.js|trainyard\.cjs|node-pty\.cjs|ssh2\.cjs|tar\.cjs)$/,
  /^dist\/webview\/((dashboard|compare|form)\.(js|css)|codicon\.ttf)$/,
  /^dist\/bin\/(agent|trainer|mpiexec_control\.so)$/,
  /^dist\/cuda(12)?\/libtrainer_cuda\.so$/, // ours; NVIDIA's libraries never
  /^dist\/share\/(tensorboard_server\.py|notify\.py|(requirements|cuda|cuda12|pip)\.txt|(node\/((code|stage|check)\/)?|fetch\/|slurm\/)[a-z_]+\.py)$/,
];
const wanted = [
  'package.json',
  'LICENSE',
  'dist/ThirdPartyNotices.txt',
  'dist/extension.js',
  'dist/lazy.js',
  'dist/mcpSdk.js',
  'dist/trainyard.cjs',
  'dist/node-pty.cjs',
  'dist/ssh2.cjs',
  'dist/tar.cjs',
  'dist/webview/dashboard.js',
  'dist/webview/dashboard.css',
  'dist/webview/compare.js',
  'dist/webview/compare.css',
  'dist/webview/form.js',
  'dist/webview/form.css',
  'dist/webview/codicon.ttf',
  'dist/bin/agent',
  'dist/bin/mpiexec_control.so',
  'dist/bin/trainer',
  'dist/share/tensorboard_server.py',
  'dist/share/notify.py',
  'dist/share/slurm/slurm_job.py',
  'dist/share/slurm/slurm_nodes.py',
  'dist/share/slurm/slurm_stage.py',
  'dist/share/slurm/slurm_tools.py',
  'dist/share/fetch/download.py',
  'dist/share/fetch/upload.py',
  'dist/share/node/driver.py',
  'dist/share/node/wire.py',
  'dist/share/node/check/facts.py',
  'dist/share/node/code/manifest.py',
  'dist/share/node/stage/stage.py',
  'media/icon.png',
  'media/presets.schema.json',
  'media/profiles.schema.json',
];

const cudaLibraries = ['dist/cuda/libtrainer_cuda.so', 'dist/cuda12/libtrainer_cuda.so'];

/**
 * One line for each name that is a stranger in this target's package, and for each it lacks.
 * `cuda`: whether it has to bring the CUDA libraries.
 * @param {string} target
 * @param {readonly string[]} names
 * @param {{ cuda?: boolean }} [options]
 */
export function judgeNames(target, names, { cuda = true } = {}) {
  const own = filesOf(target);
  const strangers = names.filter(
    (name) => !own.includes(name) && !permitted.some((pattern) => pattern.test(name)),
  );
  const needed = [...wanted, ...(cuda ? cudaLibraries : []), ...own];
  const missing = needed.filter((name) => !names.includes(name));
  return [
    ...strangers.map((name) => `${name} does not belong in the package`),
    ...missing.map((name) => `${name} is missing from the package`),
  ];
}

/** @type {readonly (readonly [what: string, pattern: RegExp])[]} */
const secrets = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/],
  ['a token of npm', /npm_[A-Za-z0-9]{36}/],
  ['a token of GitHub', /(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40})/],
  ['a key of AWS', /\bAKIA[0-9A-Z]{16}\b/],
];
const secretName = /(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY)/i;

/** Values of this environment that nobody else may see. */
const secretValues = () =>
  Object.entries(process.env)
    .map(([name, value = '']) => ({ name, value }))
    .filter(({ name, value }) => secretName.test(name) && value.length >= 12 && !value.startsWith('/'));

/**
 * One line for each thing that these bytes must not tell.
 * @param {string} name
 * @param {Buffer} bytes
 */
export function judgeBytes(name, bytes) {
  const text = bytes.toString('latin1');
  const told = secrets.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
  for (const { name: variable, value } of secretValues())
    if (text.includes(value)) told.push(`the value of ${variable}`);
  for (const path of [root, `${homedir()}/.cache`]) {
    if (path.length > 3 && text.includes(path)) told.push(`the path ${path} of the machine that made it`);
  }
  if (/\.(js|cjs|css)$/.test(name) && /[#@] sourceMappingURL=/.test(text)) told.push('a source map');
  return told.map((what) => `${name} has ${what}`);
}

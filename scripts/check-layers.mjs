// Holds src/ to its layers: reads every import that TypeScript sees, dynamic ones and `import type` among them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const source = join(root, 'src');

/** What each layer may import, besides itself, Node and packages. `vscode` is a layer of its own here. */
const allowed = {
  core: [],
  webview: [],
  cli: ['core', 'package.json'],
  contributions: ['core'], // types only
  ui: ['core', 'webview', 'contributions', 'vscode'],
  extension: ['core', 'ui', 'contributions', 'vscode'],
};

/** `core` of src/core/runs/run.ts, `extension` of src/extension.ts. */
function layerOf(path) {
  const inside = relative(source, path);
  if (inside.startsWith('..')) return relative(root, path);
  return inside.split(sep)[0].replace(/\.[jt]s$/, '');
}

function target(file, specifier) {
  return specifier.startsWith('.')
    ? layerOf(resolve(file, '..', specifier))
    : specifier === 'vscode'
      ? 'vscode'
      : undefined;
}

const problems = [];
const files = readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.ts'));
for (const name of files) {
  const file = join(source, name);
  const layer = layerOf(file);
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  if (!allowed[layer]) problems.push(`src/${name}: ${layer} is not a layer`);
  for (const { fileName } of importedFiles) {
    const to = target(file, fileName);
    if (to === undefined || to === layer || allowed[layer]?.includes(to)) continue;
    problems.push(`src/${name}: ${layer} must not import ${fileName}`);
  }
}
// Of the webview only the shared messages are for the ui.
for (const name of files.filter((path) => path.startsWith(`ui${sep}`))) {
  for (const { fileName } of ts.preProcessFile(readFileSync(join(source, name), 'utf8'), true, true)
    .importedFiles) {
    if (/webview\//.test(fileName) && !/webview\/protocol\.js$/.test(fileName)) {
      problems.push(`src/${name}: of the webview, ui may import the protocol only`);
    }
  }
}
if (files.length === 0) problems.push('no sources were found');
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

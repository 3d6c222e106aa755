// npm run typecheck: every TypeScript project of the repository, by the native compiler. ESLint's
// rules need the compiler's API of TypeScript 6, so both are installed, and `tsc` may be either.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../lib/paths.mjs';
import { main, run } from '../lib/shell.mjs';

const installed = fileURLToPath(import.meta.resolve('typescript-native/package.json'));
const compiler = join(dirname(installed), 'bin/tsc');
const projects = [
  'tsconfig.json',
  'tsconfig.core.json',
  'src/webview/tsconfig.json',
  'test/webview/tsconfig.json',
  'scripts/tsconfig.json',
];

main(() => {
  for (const project of projects) run(process.execPath, [compiler, '--noEmit', '-p', project], { cwd: root });
});

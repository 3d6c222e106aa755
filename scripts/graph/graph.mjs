// Draws which folders of src import which into docs/imports.svg. `--check` only says whether the
// picture is current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { folderImports } from './imports.mjs';
import { picture } from './picture.mjs';

const target = join(root, 'docs/imports.svg');

const text = await picture(await folderImports(root));
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  process.stderr.write('docs/imports.svg is out of date. Run npm run graph.\n');
  process.exitCode = 1;
}

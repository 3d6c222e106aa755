// Writes media/profiles.schema.json from src/core/contracts/profileSchema.ts. `--check` only says
// whether it is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mkdtempSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { root } from '../lib/paths.mjs';

const target = join(root, 'media/profiles.schema.json');

async function generate() {
  const folder = mkdtempSync(join(root, 'node_modules/.schema-'));
  try {
    const outfile = join(folder, 'schema.mjs');
    const entry = join(root, 'src/core/contracts/profileSchema.ts');
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    });
    const { profilesJsonSchema } = await import(pathToFileURL(outfile).href);
    const options = { ...(await resolveConfig(target)), filepath: target };
    return format(JSON.stringify(profilesJsonSchema()), options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const text = await generate();
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  process.stderr.write('media/profiles.schema.json is out of date. Run npm run schema.\n');
  process.exitCode = 1;
}

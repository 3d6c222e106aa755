// Writes what is generated from the schemas of the sources: media/profiles.schema.json and
// media/presets.schema.json from src/core/contracts, docs/contracts/output.schema.json from
// src/cli/json, and the tools of language models in package.json from src/core/assist. `--check`
// only says whether they are current.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mkdtempSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { root } from '../lib/paths.mjs';

/**
 * What a source file exports.
 * @param {string} source
 */
async function load(source) {
  const folder = mkdtempSync(join(root, 'node_modules/.schema-'));
  try {
    const outfile = join(folder, 'schema.mjs');
    await build({
      entryPoints: [join(root, source)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      external: ['ssh2', 'tar'],
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const manifest = 'package.json';

/** @returns {Promise<{ [file: string]: object }>} */
async function generate() {
  const { profilesJsonSchema } = await load('src/core/contracts/profileSchema.ts');
  const { presetsJsonSchema } = await load('src/core/contracts/presetSchema.ts');
  const { outputJsonSchema } = await load('src/cli/json/jsonSchema.ts');
  const { languageTools } = await load('src/core/assist/manifest.ts');
  const described = JSON.parse(readFileSync(join(root, manifest), 'utf8'));
  described.contributes.languageModelTools = languageTools();
  return {
    'media/profiles.schema.json': profilesJsonSchema(),
    'media/presets.schema.json': presetsJsonSchema(),
    'docs/contracts/output.schema.json': outputJsonSchema(),
    [manifest]: described,
  };
}

for (const [file, value] of Object.entries(await generate())) {
  const target = join(root, file);
  const text = await format(JSON.stringify(value), { ...(await resolveConfig(target)), filepath: target });
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${file} is out of date. Run npm run schema.\n`);
    process.exitCode = 1;
  }
}

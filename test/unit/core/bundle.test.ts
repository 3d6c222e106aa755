import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

function everyFileOfTheCore(): string {
  const names = readdirSync(join(root, 'src/core'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => `./${name.replaceAll('\\', '/')}`);
  return paths.map((path, index) => `export * as file${index} from '${path}';`).join('\n');
}

it('the core bundles where there is no vscode, with packages that are known', async () => {
  const { metafile, warnings } = await build({
    stdin: { contents: everyFileOfTheCore(), resolveDir: join(root, 'src/core') },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    mainFields: ['module', 'main'],
    metafile: true,
    external: ['ssh2', 'tar'], // bundles of their own
    logLevel: 'silent',
    absWorkingDir: root,
  });
  expect(warnings).toEqual([]);
  const inputs = Object.keys(metafile.inputs);
  expect(inputs).toContain('src/core/follow/run.ts');
  const outside = inputs.filter((path) => path !== '<stdin>' && !path.startsWith('src/core/'));
  const packages = new Set(
    outside.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path),
  );
  expect([...packages].sort()).toEqual(['ignore', 'jsonc-parser', 'smol-toml', 'ssh-config', 'zod']);
});

it('a core that imported vscode would not bundle', async () => {
  const bundling = build({
    stdin: {
      contents: "import * as vscode from 'vscode'; console.log(vscode);",
      resolveDir: join(root, 'src/core'),
    },
    bundle: true,
    write: false,
    platform: 'node',
    logLevel: 'silent',
  });
  await expect(bundling).rejects.toThrow(/vscode/);
});

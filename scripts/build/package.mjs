// Makes packages (VSIX), and refuses one that carries what does not belong in it, or lacks
// something.
//   npm run package [-- --target linux-x64|linux-arm64|darwin-x64|darwin-arm64|win32-x64|universal|all]…
//     [--without-cuda] [--pre-release]
// It builds the CUDA libraries first; --without-cuda saves their toolkits (5 GB on disk), and makes a
// package for CPUs alone.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX, listFiles } from '@vscode/vsce';
import { judgeBytes, judgeNames } from './packageContents.mjs';
import { filesOf, targets, universal } from './packageTargets.mjs';
import { buildCuda } from '../native/native.mjs';
import { root } from '../lib/paths.mjs';
import { main, run } from '../lib/shell.mjs';

const { name, version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Packs what is in dist/.
 * @param {string} target
 * @param {{ cuda: boolean, preRelease: boolean }} options
 */
async function make(target, { cuda, preRelease }) {
  const packagePath = join(root, 'build', `${name}-${target}-${version}.vsix`);
  const ignoreFile = join(root, 'build', `vscodeignore-${target}`);
  const common = readFileSync(join(root, '.vscodeignore'), 'utf8');
  writeFileSync(ignoreFile, [common, ...filesOf(target).map((file) => `!${file}`), ''].join('\n'));
  const shared = { cwd: root, dependencies: false, ignoreFile };
  try {
    await createVSIX({
      ...shared,
      packagePath,
      preRelease,
      // A relative link of the README leads somewhere only with the repository's address before it.
      ...(repository === undefined ? { allowMissingRepository: true, rewriteRelativeLinks: false } : {}),
      ...(target === universal ? {} : { target }),
    });
    const files = await listFiles(shared);
    const problems = [
      ...judgeNames(target, files, { cuda }),
      ...files.flatMap((file) => judgeBytes(file, readFileSync(join(root, file)))),
    ];
    if (problems.length > 0) throw new Error(`${target}: ${problems.join('; ')}`);
    const megabytes = (statSync(packagePath).size / 1e6).toFixed(2);
    process.stdout.write(`${packagePath}\n${files.map((file) => `  ${file}\n`).join('')}  ${megabytes} MB\n`);
  } catch (error) {
    rmSync(packagePath, { force: true });
    throw error;
  } finally {
    rmSync(ignoreFile, { force: true });
  }
}

main(async () => {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', multiple: true, default: ['linux-x64'] },
      'without-cuda': { type: 'boolean', default: false },
      'pre-release': { type: 'boolean', default: false },
    },
  });
  const chosen = values.target.includes('all') ? targets : values.target;
  const unknown = chosen.find((target) => !targets.includes(target));
  if (unknown !== undefined)
    throw new Error(`there is no target ${unknown}. Choose of: ${targets.join(', ')}, all`);
  for (const program of ['agent', 'trainer']) {
    if (!existsSync(join(root, 'build/native/release/node/bin', program)))
      throw new Error(`${program} is not built. Build it with: node scripts/native/native.mjs build`);
  }
  mkdirSync(join(root, 'build'), { recursive: true });
  const cuda = !values['without-cuda'];
  const built = join(root, 'build/native/release/node');
  if (cuda) buildCuda();
  else for (const folder of ['cuda', 'cuda12']) rmSync(join(built, folder), { recursive: true, force: true });
  // Once for all of them. A `vscode:prepublish` would be run for each.
  run(process.execPath, [join(root, 'scripts/build/build.mjs'), '--production'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  // Compressing takes the time, and goes on in threads of its own.
  await Promise.all(chosen.map((target) => make(target, { cuda, preRelease: values['pre-release'] })));
});

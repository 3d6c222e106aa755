// npm run demo [-- --headless]: from a bare clone to training on real images in the editor, or
// without a window.
import { parseArgs } from 'node:util';
import { runCluster, withCluster } from './cluster.mjs';
import { prepareDemoData, recipe } from './data.mjs';
import { runHeadless } from './headless.mjs';
import { openEditor } from './editor.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';

const usage = `usage: npm run demo -- [--headless] [--cluster N] [--epochs N] [--ranks N]
  --headless   train without a window, print a summary, exit 0 when all of it held
  --cluster N  over SSH, on a practice cluster of N nodes on this machine`;

main(async () => {
  const { values } = parseArgs({
    options: {
      cluster: { type: 'string' },
      headless: { type: 'boolean', default: false },
      epochs: { type: 'string', default: String(recipe.epochs) },
      ranks: { type: 'string', default: '2' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const started = Date.now();
  const cli = ensureBuilt();
  const data = prepareDemoData();
  if (values.cluster !== undefined) {
    const nodes = Number(values.cluster);
    if (!Number.isInteger(nodes) || nodes < 1 || nodes > 16)
      throw new Error(`--cluster takes a number from 1 to 16, not ${values.cluster}`);
    if (values.headless)
      process.exitCode = await runCluster({ cli, data, started, epochs: values.epochs, nodes });
    else
      await withCluster({ cli, data, epochs: values.epochs, nodes }, (cluster) => openEditor(data, cluster));
  } else if (values.headless)
    process.exitCode = await runHeadless({ cli, data, started, epochs: values.epochs, ranks: values.ranks });
  else await openEditor(data);
});

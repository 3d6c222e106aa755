// The package for every platform, in an editor that knows nothing of this clone: installed, it
// trains.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/hostClient.js';
import { root, Workbench } from '../support/workbench.js';

const training = [
  'train',
  '--model',
  'mlp',
  '--data',
  'synthetic',
  '--steps',
  '40',
  '--checkpoint-every',
  '20',
];

let workbench: Workbench;
beforeAll(async () => {
  const output = execFileSync(
    process.execPath,
    [join(root, 'scripts/build/package.mjs'), '--target', 'universal'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const vsix = output.split('\n').find((line) => line.startsWith(root) && line.endsWith('.vsix'));
  if (vsix === undefined) throw new Error(`no package was made: ${output}`);
  workbench = await Workbench.open(vsix);
});
afterAll(async () => {
  await workbench.close();
  execFileSync(process.execPath, [join(root, 'scripts/build/build.mjs')], { cwd: root }); // packaging left minified bundles
});

test('what holds inside the extension host', async () => {
  const results = await workbench.host.ask('suite', { bundle: workbench.suite });
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('a run that it starts ends as finished', async () => {
  await workbench.showViews();
  await workbench.host.command('trainyard.runTraining', { profile: 'local', words: training, ranks: 2 });
  const [run] = workbench.runs();
  await until('end of the run', () => (workbench.state(run!).phase === 'finished' ? true : undefined), 80);
  await until('end in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('finished') ? true : undefined,
  );
  expect(workbench.state(run!)).toMatchObject({ generation: 1, exitCode: 0 });
});

// npm run bench:hover: how many of 10 tooltips come and stay for 5 s, over the rows of a run that
// is under way and of its GPUs and nodes. One round points at one row after the other; in another
// one nobody has pointed at anything for 15 s before.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../../scripts/build/prepare.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { ensureSshd } from '../../scripts/practice/sshd.mjs';
import { startPracticeCluster, type PracticeCluster } from '../../scripts/practice/practice.mjs';
import { Stage } from '../editor/menus/stage.js';
import { Workbench } from '../editor/support/workbench.js';

const hovers = 10;
/** Milliseconds, longer than a look at a tooltip holds figures back. */
const rest = 15_000;
const standIn = join(root, 'build/native/release/tests/agent/nvml');
const hasGpus = existsSync(join(standIn, 'libnvidia-ml.so.1'));
const training = 'train --model mlp --data synthetic --threads 1 --batch-size 8'.split(' ');

let folder = '';
let workbench: Workbench;
let cluster: PracticeCluster;
let stage: Stage;
beforeAll(async () => {
  ensureBuilt();
  ensureSshd();
  folder = mkdtempSync(join(tmpdir(), 'ty-hover-'));
  writeFileSync(join(folder, 'nvml'), 'gpus 2\n');
  const scripted = {
    LD_LIBRARY_PATH: standIn,
    NVML_STAND_IN: join(folder, 'nvml'),
    TRAINYARD_GPU_LOCKS: join(folder, 'locks'),
  };
  cluster = await startPracticeCluster({ nodes: 2, dir: join(folder, 'practice') });
  workbench = await Workbench.open(undefined, {}, hasGpus ? scripted : {});
  stage = new Stage(workbench);
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  const file = JSON.parse(readFileSync(stage.profiles, 'utf8')) as { profiles: unknown[] };
  file.profiles.push({ ...cluster.profile, name: 'practice' });
  await workbench.writeFile(stage.profiles, JSON.stringify(file));
  await workbench.showViews();
  await stage.says('clusters', 'practice');
  const connected = workbench.host.command('trainyard.connect', { profile: 'practice' });
  await stage.isWarned('does not know the keys', 'Trust and Connect');
  await connected;
  await stage.says('clusters', /"127\.0\.0\.3","description":"[^"]+GB/);
  const words = [...training, '--steps', '1000000', '--checkpoint-every', '1000000'];
  await workbench.host.command('trainyard.runTraining', { profile: 'local', words, ranks: 1 });
  await stage.phase('mlp', 'running');
  await stage.row('runs', /running/).waitFor();
  await workbench.host.command('trainyard.selectRun', {
    ...{ profile: 'local', id: stage.run('mlp').split('/').at(-1), dir: stage.run('mlp') },
  });
  await stage.row('checkpoints', 'at risk').waitFor();
  // A start shows a lot that is new; from now on figures alone change.
  await workbench.page.waitForTimeout(20_000);
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const rows = (): Locator[] => [
  stage.row('runs', /mlp-\w+.*running/),
  stage.row('clusters', 'local'),
  ...(hasGpus ? [stage.row('clusters', 'GPU 0'), stage.row('clusters', 'GPU 1')] : []),
  stage.row('clusters', '127.0.0.2'),
  stage.row('clusters', '127.0.0.3'),
  stage.row('checkpoints', 'at risk'),
];

test.each([
  ['one row after the other', 0],
  ['after a rest each', rest],
])(`${hovers} tooltips, %s`, async (name, before) => {
  const all = rows();
  const results: string[] = [];
  for (let hover = 0; hover < hovers; hover++) {
    await workbench.page.mouse.move(900, 500);
    await workbench.page.waitForTimeout(before + 700 * Math.random());
    results.push(await stage.pointsAt(all[hover % all.length]!));
  }
  const stayed = results.filter((result) => result === 'stayed').length;
  process.stdout.write(
    `${name}: ${stayed} of ${hovers} tooltips came and stayed 5 s (${results.join(', ')})\n`,
  );
  expect(stayed).toBe(hovers);
});

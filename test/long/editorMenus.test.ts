// Every menu and button of the views' items is clicked once, as a person would, and did what it says.
// What the entries are, and on what they are clicked, stands in menus/clicks.ts.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { root } from '../../scripts/lib/paths.mjs';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { until } from '../editor/support/hostClient.js';
import {
  active,
  checkpoints,
  cluster as onCluster,
  finished,
  gpus,
  groups,
  lastGroups,
  lastRun,
  lastRuns,
  lose,
  refreshes,
  reports,
  titles,
  type Clicks,
} from '../editor/menus/clicks.js';
import { Stage } from '../editor/menus/stage.js';
import { startNodes } from '../editor/support/practice.js';
import { Workbench } from '../editor/support/workbench.js';

const standIn = join(root, 'build/native/release/tests/agent/nvml');
const hasGpus = existsSync(join(standIn, 'libnvidia-ml.so.1'));
const why = hasGpus ? '' : ' (skipped: the stand-in for NVML is not built, npm run test:native builds it)';

const folder = mkdtempSync(join(tmpdir(), 'ty-menus-'));
const training = 'train --model mlp --data synthetic --threads 1 --batch-size 8'.split(' ');
const once = [...training, '--steps', '80', '--checkpoint-every', '20'];
const endless = [...training, '--steps', '1000000', '--checkpoint-every', '1000000'];

let workbench: Workbench;
let cluster: PracticeCluster;
let stage: Stage;
beforeAll(async () => {
  writeFileSync(join(folder, 'nvml'), 'gpus 2\n');
  const scripted = {
    LD_LIBRARY_PATH: standIn,
    NVML_STAND_IN: join(folder, 'nvml'),
    TRAINYARD_GPU_LOCKS: join(folder, 'locks'),
  };
  cluster = await startNodes(join(folder, 'practice'), 1);
  workbench = await Workbench.open(undefined, {}, hasGpus ? scripted : {});
  stage = new Stage(workbench);
  await workbench.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  await workbench.host.ask('setting', { key: 'terminal.integrated.gpuAcceleration', value: 'off' });
  const file = JSON.parse(readFileSync(stage.profiles, 'utf8')) as { profiles: unknown[] };
  file.profiles.push({ ...cluster.profile, name: 'practice' });
  await workbench.writeFile(stage.profiles, JSON.stringify(file));
  await workbench.showViews();
  await stage.says('clusters', 'practice');
});
afterAll(async () => {
  writeFileSync(join(folder, 'end'), '');
  await workbench.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function clickAll(clicks: Clicks): Promise<void> {
  for (const [key, { row = '', check }] of Object.entries(clicks)) {
    try {
      await stage.click(key, row);
      await check(stage);
    } catch (error) {
      await workbench.screenshot(`menu-failed-${key.replace(/\W+/g, '-')}`, 'dark', 1600, 1000);
      throw new Error(`${key}: ${String(error)}`, { cause: error });
    }
  }
}
const run = (words: readonly string[], profile = 'local'): Promise<unknown> =>
  workbench.host.command('trainyard.runTraining', { profile, words, ranks: 1 });

test('a cluster, its node and its tunnel', async () => {
  await clickAll(onCluster);
});

test('a training that has finished, and its checkpoints', async () => {
  await run(once);
  await stage.phase('mlp', 'finished');
  await stage.row('runs', /finished/).waitFor();
  await clickAll(finished);
  await stage.row('checkpoints', 'step 20').waitFor();
  await clickAll(checkpoints);
  for (const [step, clicks] of refreshes) {
    lose(stage, step);
    await clickAll(clicks);
  }
});

test('runs of a report', async () => {
  const short = ['--replicas', '1', '--weak', '--steps', '8', '--out', join(folder, 'scaling')];
  workbench.cli('report', 'scaling', 'local', ...short, '--', ...training);
  await stage.row('runs', /^Scaling of local.*2 measured · best/).waitFor();
  await clickAll(reports);
});

test('groups of runs, and runs as they were', async () => {
  await run(['/bin/sh', '-c', 'true'], 'practice');
  await stage.says('runs', '"sh-');
  await until('its end', async () =>
    /"sh-[^}]*finished/.test(JSON.stringify((await workbench.snapshot()).runs)) ? true : undefined,
  );
  await clickAll(groups);
  const leave = async (): Promise<void> => {
    await workbench.host.command('trainyard.disconnect', { profile: 'practice' });
    await stage.row('runs', 'connect to see').waitFor();
  };
  for (const clicks of [lastRuns, lastRun, lastGroups]) {
    await leave();
    await clickAll(clicks);
  }
  await leave();
}, 180_000); // the first run there brings the programs to the node

test('a training under way: its tooltip stays while its figures change; stopped and resumed', async () => {
  await run(endless);
  await stage.phase('mlp', 'running');
  await stage.row('runs', /running/).waitFor();
  await workbench.host.command('trainyard.selectRun', {
    ...{ profile: 'local', id: stage.run('mlp').split('/').at(-1), dir: stage.run('mlp') },
  });
  await stage.row('checkpoints', 'at risk').waitFor();
  const rows = [
    stage.row('runs', /running/),
    stage.row('clusters', 'local'),
    stage.row('checkpoints', 'at risk'),
  ];
  for (const row of rows) await stage.reads(row);
  await clickAll(active);
});

test('the buttons of the views', async () => {
  await clickAll(titles);
});

describe.skipIf(!hasGpus)(`GPUs${why}`, () => {
  test('a GPU, and a start that waits for some', async () => {
    await workbench.writeFile(
      join(folder, 'hold.sh'),
      `while [ ! -e ${join(folder, 'end')} ]; do sleep 0.2; done`,
    );
    const hold = ['/bin/sh', join(folder, 'hold.sh')];
    workbench.cli('run', 'local', '--gpus', '1', '--detach', '--', ...hold);
    const waiting = workbench.cliBeside('run', 'local', '--gpus', '2', '--wait', '--', ...hold);
    try {
      await stage.says('clusters', '1st in the queue');
      await clickAll(gpus);
    } finally {
      waiting.kill();
    }
  });
});

test('the palette offers what there is something for, and nothing else', async () => {
  const isOffered = async (title: string, wanted: boolean): Promise<void> => {
    await until(`${title} ${wanted ? 'in' : 'not in'} the palette`, async () => {
      const lines = await workbench.palette(`Trainyard: ${title}`);
      await workbench.page.keyboard.press('Escape');
      return lines.some((line) => line.includes(`Trainyard: ${title}`)) === wanted ? true : undefined;
    });
  };
  for (const title of ['Resume Run', 'Compare Runs…', 'Choose Key…']) await isOffered(title, true);
  // practice was disconnected above, and stays so.
  for (const title of ['Close Tunnel', 'Copy Text', 'Copy to Node…']) await isOffered(title, false);
});

// Resume on Another Head, in the menu of a profile whose head is lost: the run goes on under the
// node that kept a copy of its folder.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { endAllOf } from '../cluster/support/hosts.js';
import { endless, stateOf, training } from '../cluster/support/runs.js';
import { until } from '../editor/support/hostClient.js';
import { addProfile, startNodes, trustNodes } from '../editor/support/practice.js';
import { clickMenu, pick } from '../editor/support/questions.js';
import { Workbench } from '../editor/support/workbench.js';

let workbench: Workbench;
let cluster: PracticeCluster;
const dir = mkdtempSync(join(tmpdir(), 'ty-editor-head-'));
const folderOn = (node: number, id: string): string => join(dir, `practice-${node}/home/.trainyard/runs`, id);

beforeAll(async () => {
  cluster = await startNodes(dir, 2);
  workbench = await Workbench.open();
  await workbench.showViews();
  trustNodes(workbench, cluster);
  const env = { OMP_NUM_THREADS: '1' };
  const mirror = cluster.profile.hosts[1]?.host;
  await addProfile(workbench, { ...cluster.profile, name: 'lab', mirror, env });
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  await endAllOf(dir);
  rmSync(dir, { recursive: true, force: true });
});

const lab = (): Profile => {
  const text = readFileSync(join(workbench.folder, 'home/profiles.json'), 'utf8');
  const { profiles } = JSON.parse(text) as { profiles: Profile[] };
  return profiles.find(({ name }) => name === 'lab')!;
};

test('the copy becomes the run, and the node the head of the profile', async () => {
  const [head, mirror] = cluster.profile.hosts.map(({ host }) => host);
  const words = training(endless, '--batch-size', '8', '--checkpoint-every', '50', '--keep', '2');
  const line = workbench.cli('run', 'lab', '--detach', '--json', '--', ...words);
  const id = /"id":"([^"]+)"/.exec(line)?.[1] ?? '';
  await until(
    'a copy of a checkpoint',
    () => (typeof stateOf(folderOn(1, id))?.mirror?.checkpoint === 'string' ? true : undefined),
    60,
  );
  await workbench.host.command('trainyard.connect', { profile: 'lab' });
  await workbench.host.command('trainyard.openDashboard', { profile: 'lab', id, dir: folderOn(1, id) });
  await workbench.webview().getByText(`${mirror} has a copy`).first().waitFor();
  await workbench.screenshot('mirror', 'light', 1280);

  // The daemon of a connection that is there outlives what is killed.
  await workbench.host.command('trainyard.disconnect', { profile: 'lab' });
  await endAllOf(join(dir, 'practice-1'));
  const row = workbench.page.locator('.sidebar .monaco-list-row', { hasText: 'lab' }).first();
  await clickMenu(workbench, row, 'Resume on Another Head…');
  await pick(workbench, 'Which host is the head from now on?', String(mirror));
  await pick(workbench, 'Which run?', id);
  await until(
    'the run on the mirror',
    () => {
      const state = stateOf(folderOn(2, id));
      return state?.phase === 'running' && state.generation > 1 ? true : undefined;
    },
    120,
  );
  expect(lab()).toMatchObject({ head: mirror, mirror: head });
  expect(existsSync(join(folderOn(2, id), 'mirror'))).toBe(false);
  await workbench.webview().getByText('running').first().waitFor();
  await workbench.screenshot('mirror-resumed', 'dark', 1280);
  workbench.cli('stop', 'last', '--now');
}, 300_000);

// Files and folders that are dragged from the explorer onto a row of the Clusters view.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPracticeCluster, type PracticeCluster } from '../../scripts/practice/practice.mjs';
import { Stage } from '../editor/menus/stage.js';
import { answer } from '../editor/support/questions.js';
import { Workbench } from '../editor/support/workbench.js';

const folder = mkdtempSync(join(tmpdir(), 'ty-drop-'));
let workbench: Workbench;
let cluster: PracticeCluster;
let stage: Stage;
beforeAll(async () => {
  cluster = await startPracticeCluster({ nodes: 2, dir: join(folder, 'practice') });
  workbench = await Workbench.open(undefined, { 'images/a/1.txt': 'one', 'images/2.txt': 'two' });
  stage = new Stage(workbench);
  const { host } = workbench;
  const file = JSON.parse(readFileSync(stage.profiles, 'utf8')) as { profiles: unknown[] };
  file.profiles.push({ ...cluster.profile, name: 'practice' });
  await workbench.writeFile(stage.profiles, JSON.stringify(file));
  await workbench.showViews();
  await stage.says('clusters', 'practice');
  const connected = host.command('trainyard.connect', { profile: 'practice' });
  await stage.isWarned('does not know the keys', 'Trust and Connect');
  await connected;
  await stage.says('clusters', /"127\.0\.0\.3","description":"[^"]+GB/);
  // Side by side with the explorer, as somebody may have put it.
  const moved = { viewIds: ['trainyard.clusters'], destinationId: 'workbench.view.explorer' };
  await host.command('vscode.moveViews', moved);
  await host.command('workbench.view.explorer');
  await host.command('trainyard.clusters.focus');
  await inClusters('127.0.0.2').waitFor();
}, 180_000);
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const home = (index: number): string => cluster.nodes[index]?.home ?? '';
const inExplorer = (name: string): Locator =>
  workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first();

/** The view has another heading there. */
const inClusters = (name: string): Locator =>
  workbench.page.locator('.sidebar .monaco-list-row .custom-view-tree-node-item', { hasText: name }).first();

/** By the mouse, as a hand would. */
async function drag(from: Locator, to: Locator): Promise<void> {
  const { mouse } = workbench.page;
  const middle = async (of: Locator): Promise<[number, number]> => {
    const box = await of.boundingBox();
    if (!box) throw new Error('what is dragged is not to be seen');
    return [box.x + 50, box.y + box.height / 2];
  };
  await mouse.move(...(await middle(from)));
  await mouse.down();
  await mouse.move(...(await middle(to)), { steps: 12 });
  await workbench.page.waitForTimeout(300);
  await mouse.move(...(await middle(to)));
  await mouse.up();
}

test('a folder on a node: where to is asked, and it lies there', async () => {
  await drag(inExplorer('images'), inClusters('127.0.0.2'));
  await answer(workbench, 'Copy to 127.0.0.2', '~/data');
  await stage.toast('2 files copied to ~/data on 127.0.0.2');
  expect(readFileSync(join(home(0), 'data/images/a/1.txt'), 'utf8')).toBe('one');
  expect(readdirSync(join(home(0), 'data'))).toEqual(['images']);
  expect(existsSync(join(home(1), 'data'))).toBe(false);
});

test('a folder on a profile goes to all of its nodes; over what is there only after a question', async () => {
  await drag(inExplorer('images'), inClusters('practice'));
  await answer(workbench, 'Copy to 2 nodes', '~/data');
  await stage.isWarned('images: already in ~/data on 2 nodes', 'Replace');
  await stage.toast('2 files copied to ~/data on 2 nodes');
  expect(readFileSync(join(home(1), 'data/images/2.txt'), 'utf8')).toBe('two');
});

test('on this machine it says why nothing is copied', async () => {
  await drag(inExplorer('images'), inClusters('local'));
  await stage.toast('profile local is this machine');
});

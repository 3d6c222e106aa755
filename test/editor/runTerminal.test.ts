// Terminals on a node begin with a prompt: nothing that was typed for the user is shown.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { until } from './support/hostClient.js';
import { Stage } from './menus/stage.js';
import { startNodes } from './support/practice.js';
import { typeLine } from './support/questions.js';
import { Workbench } from './support/workbench.js';

const folder = mkdtempSync(join(tmpdir(), 'ty-terminal-'));
let workbench: Workbench;
let cluster: PracticeCluster;
beforeAll(async () => {
  cluster = await startNodes(join(folder, 'practice'), 1);
  workbench = await Workbench.open();
  const stage = new Stage(workbench);
  for (const [key, value] of Object.entries({
    'trainyard.openDashboardOnRun': false,
    'terminal.integrated.gpuAcceleration': 'off',
  })) {
    await workbench.host.ask('setting', { key, value });
  }
  const file = JSON.parse(readFileSync(stage.profiles, 'utf8')) as { profiles: unknown[] };
  file.profiles.push({ ...cluster.profile, name: 'practice' });
  await workbench.writeFile(stage.profiles, JSON.stringify(file));
  await workbench.showViews();
  await stage.says('clusters', 'practice');
  const connecting = workbench.host.command('trainyard.connect', { profile: 'practice' });
  await stage.isWarned('does not know the keys', 'Trust and Connect');
  await connecting;
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Lines of the terminal in front that have something, once there is a prompt. */
const lines = (): Promise<string[]> =>
  until('a prompt', async () => {
    const rows = await workbench.page.locator('.terminal-wrapper.active .xterm-rows > div').allInnerTexts();
    const full = rows.map((row) => row.replaceAll('\u00a0', ' ').trimEnd()).filter((row) => row !== '');
    return /[$#%]$/.test(full.at(-1) ?? '') ? full : undefined;
  });

test('the terminal of a run begins with the folder of the run and a prompt', async () => {
  const words = ['/bin/sh', '-c', 'true'];
  await workbench.host.command('trainyard.runTraining', { profile: 'practice', words, ranks: 1 });
  const runs = join(cluster.nodes[0]?.home ?? '', '.trainyard/runs');
  const [id = ''] = readdirSync(runs);
  const dir = join(runs, id);
  await workbench.host.command('trainyard.openTerminal', { profile: 'practice', id, dir });
  const shown = await lines();
  expect(shown.slice(0, -1).join('')).toBe(dir);
  expect(shown.at(-1)).not.toMatch(/exec|python3|fromhex/);
  await workbench.host.command('notifications.clearAll');
  await workbench.screenshot('run-terminal', 'dark', 1600);
  await workbench.screenshot('run-terminal', 'light', 800);
  const seen = join(dir, 'seen');
  await typeLine(workbench, 'pwd > $TRAINYARD_RUN_DIR/seen', () => existsSync(seen));
  expect(readFileSync(seen, 'utf8').trim()).toBe(dir);
}, 180_000); // the first run there brings the programs to the node

test('a terminal on a node begins with its prompt', async () => {
  await workbench.host.command('workbench.action.terminal.killAll');
  await workbench.host.command('trainyard.openNodeTerminal', { profile: 'practice', host: '127.0.0.2' });
  expect((await lines()).join('\n')).not.toMatch(/stty|exec|tty/);
});

// The extension of this clone in a real workbench: its views, its commands, and a run that does not
// mind the editor.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './support/hostClient.js';
import { themes, Workbench, type Theme } from './support/workbench.js';

const training = [
  'train',
  '--model',
  'mlp',
  '--data',
  'synthetic',
  '--steps',
  '1000000',
  '--log-every',
  '500',
];
const running = { profile: 'local', words: training, ranks: 2 };

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test('what holds inside the extension host', async () => {
  const results = await workbench.host.ask('suite', { bundle: workbench.suite });
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(results.length).toBeGreaterThan(5);
});

test('the activity bar has our views', async () => {
  await workbench.showViews();
  for (const title of ['Clusters', 'Runs', 'Checkpoints']) {
    const header = workbench.page.locator('.sidebar .pane-header', { hasText: new RegExp(title, 'i') });
    await header.first().waitFor();
  }
});

test('the command palette lists Run Training', async () => {
  const lines = await workbench.palette('Trainyard: Run Training');
  expect(lines.join('\n')).toContain('Trainyard: Run Training…');
  await workbench.page.keyboard.press('Escape');
});

test('a run that a command starts is shown as running', async () => {
  await workbench.host.command('trainyard.runTraining', running);
  const [run] = workbench.runs();
  await until('run under way', () => (workbench.state(run!).phase === 'running' ? true : undefined), 60);
  await until('run in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('running') ? true : undefined,
  );
  await workbench.page.locator('.sidebar .monaco-list-row', { hasText: 'running' }).first().waitFor();
  await until('steps', () => (existsSync(join(run!, 'metrics.jsonl')) ? true : undefined), 60);
});

test('its dashboard opens beside it and is alive', async () => {
  const label = (await workbench.snapshot()).runs[0]?.children[0]?.label ?? '';
  await workbench.webview().getByText('running').first().waitFor();
  await until(
    'steps on the dashboard',
    async () =>
      (await workbench.snapshot()).dashboards.some(({ step }) => (step ?? 0) > 20) ? true : undefined,
    90, // beside another window and its training 20 steps took 38 s
  );
  expect((await workbench.host.ask('tabs', {})).map((tab) => tab.label).join()).toContain(label);
  await workbench.page.waitForTimeout(1000);
  await workbench.screenshot('dashboard', 'dark', 1600);
});

test('reloading the window does not touch the run', async () => {
  const [run] = workbench.runs();
  const before = workbench.state(run!);
  await workbench.reload();
  await workbench.showViews();
  await until('run in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('running') ? true : undefined,
  );
  const after = workbench.state(run!);
  expect(after).toMatchObject({
    phase: 'running',
    generation: before.generation,
    supervisor: before.supervisor,
  });
});

test('the dashboard that was open comes back after the reload, with all that happened', async () => {
  const back = await until('dashboard', async () => {
    const [dashboard] = (await workbench.snapshot()).dashboards;
    return (dashboard?.step ?? 0) > 20 ? dashboard : undefined;
  });
  expect(back.dir).toBe(workbench.runs()[0]);
  const app = workbench.webview().locator('#app');
  await until('painted steps', async () =>
    Number(await app.getAttribute('data-step')) > 20 ? true : undefined,
  );
});

test.each(Object.keys(themes) as Theme[])('looks like something in %s', async (theme) => {
  for (const width of [800, 1600]) await workbench.screenshot('run', theme, width);
});

test('a narrow window', async () => {
  await workbench.screenshot('run', 'dark', 300);
  await workbench.page.setViewportSize({ width: 1600, height: 900 });
});

test('a new window shows it in badge and status bar before a view of ours is opened', async () => {
  const { page, host } = workbench;
  await host.command('workbench.action.closeAllEditors');
  await host.command('workbench.view.explorer');
  await workbench.reload();
  await page.locator('.statusbar-item', { hasText: 'was running' }).waitFor({ timeout: 30_000 });
  const ours = page.locator('.activitybar .action-item', { has: page.locator('[aria-label^="Trainyard"]') });
  await expect.poll(() => ours.locator('.badge-content').innerText()).toBe('1');
  expect((await workbench.snapshot()).clusters).toEqual([]);
  await workbench.showViews();
  await until('run in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('running') ? true : undefined,
  );
});

test('stopping it by command ends it', async () => {
  const [run] = workbench.runs();
  workbench.cli('stop', run!, '--now');
  await until('end of the run', () => (workbench.state(run!).phase === 'stopped' ? true : undefined), 30);
  await until('end in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('stopped') ? true : undefined,
  );
});

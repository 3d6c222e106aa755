// Add Cluster by the keyboard alone: hosts of an SSH configuration, real sshd, a run on them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { ClusterFlow } from './support/clusterFlow.js';
import { Film } from './support/film.js';
import { until } from './support/hostClient.js';
import { homeWithHosts, startNodes } from './support/practice.js';
import { Workbench } from './support/workbench.js';

let workbench: Workbench;
let cluster: PracticeCluster;
let flow: ClusterFlow;
const dir = mkdtempSync(join(tmpdir(), 'ty-add-'));

beforeAll(async () => {
  cluster = await startNodes(join(dir, 'practice'), 2);
  const others = ['Host gate', '  HostName 10.0.0.1', 'Host *.internal', '  User ada'];
  workbench = await Workbench.open(undefined, {}, homeWithHosts(dir, cluster, ['gpu1', 'gpu2'], others));
  flow = new ClusterFlow(workbench);
  await workbench.showViews();
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('the walkthrough: Open Dashboard without a run says what to do, and the step stays open', async () => {
  await workbench.host.command('workbench.action.openWalkthrough', 'trainyard.trainyard#start');
  const step = workbench.page.locator('.getting-started-step', { hasText: 'Watch It Learn' });
  await step.click();
  await step.getByText('Open Dashboard').click();
  const toast = workbench.page.locator('.notification-toast', { hasText: 'there is no run yet' });
  await toast.getByText('Try It on Drawn Images').waitFor();
  expect(await step.getByRole('checkbox').first().getAttribute('aria-checked')).toBe('false');
  await workbench.page.locator('.getting-started-step', { hasText: 'reach by SSH' }).click();
  for (const theme of ['dark', 'light'] as const) await workbench.screenshot('walkthrough', theme, 1280, 800);
  await workbench.host.command('notifications.clearAll');
  await workbench.host.command('workbench.action.closeAllEditors');
});

test('from no profile to a chart of a run on two hosts: at most 6 interactions', async () => {
  expect(flow.profiles()).not.toContain('ssh');
  const film = new Film(workbench);
  await film.interaction('the command Add Cluster', () => flow.begin());
  expect(await flow.widget().locator('.monaco-list-row').allInnerTexts()).toHaveLength(3); // no pattern
  await film.shot('add-hosts');
  await film.interaction('the hosts', async () => {
    await flow.press('ArrowDown', 'ArrowDown', 'Space', 'ArrowDown', 'Space', 'Enter');
    await flow.widget().getByText('Enter connects to gpu1, gpu2').waitFor();
  });
  expect(await flow.widget().locator('input').first().inputValue()).toBe('gpu');
  await film.interaction('the name', async () => {
    await flow.press('Enter');
    await flow.dialog().getByText(cluster.nodes[1]!.hostKeyFingerprint).waitFor();
  });
  await film.interaction('their keys', async () => {
    await flow.press('Enter');
    await flow.widget().getByText('gpu is connected: 2 nodes').waitFor({ timeout: 120_000 });
  });
  await film.shot('add-done');
  expect(await flow.widget().innerText()).toMatch(/checks passed/);
  expect(JSON.parse(flow.profiles())).toMatchObject({
    profiles: [{ name: 'local' }, { name: 'gpu', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] }],
  });
  expect(flow.profiles()).not.toContain('"address"'); // what stands behind an alias is the SSH configuration's
  await film.interaction('a run on drawn images', async () => {
    await flow.press('Enter');
    await workbench.webview().getByText('epoch 1/12').waitFor({ timeout: 120_000 });
    await workbench.webview().getByText('profile gpu').waitFor();
  });
  await film.shot('add-run');
  expect(film.interactions, film.told()).toBeLessThanOrEqual(6);
  process.stdout.write(`from no profile to a chart: ${film.seconds.toFixed(1)} s (${film.told()})\n`);
}, 300_000);

test('a new window shows the run as it was, until one click connects its profile', async () => {
  await until('the run in the list', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('running · ') ? true : undefined,
  );
  await workbench.page.waitForTimeout(1000); // the editor stores what it remembers after a moment
  await workbench.host.command('workbench.action.closeAllEditors'); // a dashboard connects its own
  await workbench.reload();
  await workbench.showViews();
  const group = await until('what is remembered', async () =>
    (await workbench.snapshot()).runs.find(({ label }) => label === 'gpu'),
  );
  expect(group.description).toMatch(/^connect to see · seen \d+ s ago$/);
  expect(group.children[0]?.description).toMatch(/^was running \d+ s ago/);
  const { statusBar, clusters } = await workbench.snapshot();
  expect(statusBar).toMatch(/^\$\(history\) \S+ was running · \d+ s ago$/);
  expect(clusters.find(({ label }) => label === 'gpu')?.description).toMatch(
    /^not connected · 1 was running \d+ s ago$/,
  );
  for (const theme of ['dark', 'light'] as const) await workbench.screenshot('last-seen', theme, 1280, 800);
  const row = workbench.page.locator('.sidebar .monaco-list-row', { hasText: 'connect to see' });
  await row.hover();
  await row.getByRole('button', { name: 'Connect' }).click();
  await until('the run as it is', async () => {
    const runs = JSON.stringify((await workbench.snapshot()).runs);
    return runs.includes('"running · ') && !runs.includes('connect to see') ? true : undefined;
  });
  const stopping = workbench.host.command('trainyard.stopNow'); // the next tests need the processors
  await flow.dialog().getByText('Stop Now').first().waitFor();
  await flow.press('Enter');
  await stopping;
});

// Add Cluster by the keyboard alone: hosts of an SSH configuration, real sshd, a run on them; and a
// host that takes none of the keys.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { Film } from './support/film.js';
import { until } from './support/hostClient.js';
import { homeWithHosts, startNodes } from './support/practice.js';
import { Workbench } from './support/workbench.js';

let workbench: Workbench;
let cluster: PracticeCluster;
const dir = mkdtempSync(join(tmpdir(), 'ty-add-'));

beforeAll(async () => {
  cluster = await startNodes(join(dir, 'practice'), 2);
  const others = ['Host gate', '  HostName 10.0.0.1', 'Host *.internal', '  User ada'];
  workbench = await Workbench.open(undefined, {}, homeWithHosts(dir, cluster, ['gpu1', 'gpu2'], others));
  await workbench.showViews();
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const press = (key: string): Promise<void> => workbench.page.keyboard.press(key);
const widget = () => workbench.page.locator('.quick-input-widget:visible');
const dialog = () => workbench.page.locator('.monaco-dialog-box:visible');
const profiles = (): string => readFileSync(join(workbench.folder, 'home/profiles.json'), 'utf8');

/** The palette, the command, Enter. */
async function addCluster(): Promise<void> {
  await workbench.palette('Trainyard: Add Cluster');
  await press('Enter');
  await described();
}

/** The hosts are there, and what ssh says of them: the list does not change any more. */
const described = (): Promise<void> => widget().getByText('@127.0.0.3').waitFor();

/** Into the list of hosts, until it is offered there. */
async function typeHost(text: string): Promise<void> {
  await widget().locator('input').first().fill(text);
  await widget().getByText('this host, as it is typed').waitFor();
}

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
  expect(profiles()).not.toContain('ssh');
  const film = new Film(workbench);
  await film.interaction('the command Add Cluster', addCluster);
  expect(await widget().locator('.monaco-list-row').allInnerTexts()).toHaveLength(3); // no pattern
  await film.shot('add-hosts');
  await film.interaction('the hosts', async () => {
    for (const key of ['ArrowDown', 'ArrowDown', 'Space', 'ArrowDown', 'Space', 'Enter']) await press(key);
    await widget().getByText('Enter connects to gpu1, gpu2').waitFor();
  });
  expect(await widget().locator('input').first().inputValue()).toBe('gpu');
  await film.interaction('the name', async () => {
    await press('Enter');
    await dialog().getByText(cluster.nodes[1]!.hostKeyFingerprint).waitFor();
  });
  await film.interaction('their keys', async () => {
    await press('Enter');
    await widget().getByText('gpu is connected: 2 nodes').waitFor({ timeout: 120_000 });
  });
  await film.shot('add-done');
  expect(await widget().innerText()).toMatch(/checks passed/);
  expect(JSON.parse(profiles())).toMatchObject({
    profiles: [{ name: 'local' }, { name: 'gpu', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] }],
  });
  expect(profiles()).not.toContain('"address"'); // what stands behind an alias is the SSH configuration's
  await film.interaction('a run on drawn images', async () => {
    await press('Enter');
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
  await dialog().getByText('Stop Now').first().waitFor();
  await press('Enter');
  await stopping;
});

test('a host that takes no key: why, and a key chosen; nothing is saved before it is connected', async () => {
  const user = cluster.profile.hosts[0]?.user ?? '';
  await addCluster();
  await typeHost(`${user}@127.0.0.3:${cluster.port}`);
  await press('Enter');
  await widget().getByText('Enter connects to 127.0.0.3').waitFor();
  await press('Enter');
  await dialog()
    .getByText(/does not let .* in/)
    .waitFor();
  await workbench.screenshot('add-failed', 'dark', 1280, 800);
  expect(profiles()).not.toContain('cluster');
  await press('Enter'); // Choose Key… is in front
  await workbench.page.getByPlaceholder('The key for 127.0.0.3').waitFor();
  await workbench.page.keyboard.type(cluster.identityFile);
  await press('Enter'); // at once: the whole path counts, however far the list has come
  await widget().getByText('cluster is connected: 1 node').waitFor({ timeout: 60_000 });
  await press('Escape');
  expect(JSON.parse(profiles())).toMatchObject({
    profiles: [{ name: 'local' }, { name: 'gpu' }, { hosts: [{ identityFile: cluster.identityFile }] }],
  });
});

test('the form of a new run adds a cluster, and comes back with it chosen and connected', async () => {
  await workbench.host.command('workbench.action.closeAllEditors');
  await workbench.host.command('trainyard.newRun', { profile: 'local' });
  const form = workbench.webview();
  const data = form.getByLabel('Training images');
  await data.fill('~/images');
  await form.getByLabel('Profile', { exact: true }).selectOption({ label: 'Add a cluster…' });
  await described();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Space', 'Enter']) await press(key);
  await widget().getByText('Enter connects to gpu2').waitFor();
  await press('Enter');
  await expect
    .poll(() => form.getByLabel('Profile', { exact: true }).inputValue(), { timeout: 60_000 })
    .toBe('gpu2');
  expect(await data.inputValue()).toBe('~/images');
  await form.getByText('gpu2 has no ~/images', { exact: true }).waitFor();
  await workbench.screenshot('form-added', 'dark', 1280, 800);
  await workbench.host.command('trainyard.disconnect', { profile: 'gpu2' });
  await form.getByText('Not connected: its GPUs').waitFor();
  await form.getByRole('button', { name: 'Connect' }).click();
  await form.getByText('gpu2 has no ~/images', { exact: true }).waitFor();
  await workbench.host.command('workbench.action.closeAllEditors');
});

test('a host that nobody answers at: given up, and nothing is kept', async () => {
  const before = profiles();
  await addCluster();
  await typeHost('127.0.0.3');
  await press('Enter');
  await widget().getByText('Enter connects to 127.0.0.3').waitFor();
  await press('Enter');
  await dialog()
    .getByText(/refused the connection/)
    .waitFor();
  await dialog().getByText('Jump Host…').waitFor();
  await press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(profiles()).toBe(before);
});

test('the default profile is connected when the window is loaded anew, and no other', async () => {
  await workbench.host.ask('setting', { key: 'trainyard.defaultProfile', value: 'cluster' });
  await workbench.host.ask('setting', { key: 'trainyard.connectAtStart', value: 'default' });
  await workbench.host.command('workbench.action.closeAllEditors'); // a dashboard connects its own
  await workbench.reload();
  await workbench.showViews();
  const clusters = await until('figures of the cluster', async () => {
    const { clusters } = await workbench.snapshot();
    return JSON.stringify(clusters.find(({ label }) => label === 'cluster')).includes('GB')
      ? clusters
      : undefined;
  });
  expect(clusters.find(({ label }) => label === 'gpu')?.description).toContain('not connected');
});

test('one host by its alias, which the host itself cannot resolve: a run on it is seen training', async () => {
  await addCluster();
  for (const key of ['ArrowDown', 'ArrowDown', 'Space', 'Enter']) await press(key);
  await widget().getByText('Enter connects to gpu1').waitFor();
  await press('Enter');
  await widget().getByText('gpu1 is connected: 1 node').waitFor({ timeout: 120_000 });
  await press('Enter'); // a run on drawn images
  await workbench.webview().getByText('profile gpu1').waitFor({ timeout: 120_000 });
  await workbench.webview().getByText('epoch 1/12').waitFor({ timeout: 45_000 }); // a node that does not join: 60 s
}, 300_000);

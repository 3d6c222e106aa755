// Add Cluster where something is in the way: no key, nobody who answers, an alias that only this
// machine knows. And clusters that are added from the form, or connected with the window.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { ClusterFlow } from '../editor/support/clusterFlow.js';
import { until } from '../editor/support/hostClient.js';
import { homeWithHosts, startNodes, trustNodes } from '../editor/support/practice.js';
import { Workbench } from '../editor/support/workbench.js';

let workbench: Workbench;
let cluster: PracticeCluster;
let flow: ClusterFlow;
const dir = mkdtempSync(join(tmpdir(), 'ty-add-more-'));

beforeAll(async () => {
  cluster = await startNodes(join(dir, 'practice'), 2);
  const others = ['Host gate', '  HostName 10.0.0.1', 'Host *.internal', '  User ada'];
  workbench = await Workbench.open(undefined, {}, homeWithHosts(dir, cluster, ['gpu1', 'gpu2'], others));
  trustNodes(workbench, cluster);
  flow = new ClusterFlow(workbench);
  await workbench.showViews();
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('a host that takes no key: why, and a key chosen; nothing is saved before it is connected', async () => {
  const user = cluster.profile.hosts[0]?.user ?? '';
  await flow.begin();
  await flow.typeHost(`${user}@127.0.0.3:${cluster.port}`);
  await flow.press('Enter');
  await flow.widget().getByText('Enter connects to 127.0.0.3').waitFor();
  await flow.press('Enter');
  await flow
    .dialog()
    .getByText(/does not let .* in/)
    .waitFor();
  await workbench.screenshot('add-failed', 'dark', 1280, 800);
  expect(flow.profiles()).not.toContain('cluster');
  await flow.press('Enter'); // Choose Key… is in front
  await workbench.page.getByPlaceholder('The key for 127.0.0.3').waitFor();
  await workbench.page.keyboard.type(cluster.identityFile);
  await flow.press('Enter'); // at once: the whole path counts, however far the list has come
  await flow.widget().getByText('cluster is connected: 1 node').waitFor({ timeout: 60_000 });
  await flow.press('Escape');
  expect(JSON.parse(flow.profiles())).toMatchObject({
    profiles: [{ name: 'local' }, { hosts: [{ identityFile: cluster.identityFile }] }],
  });
});

test('the form of a new run adds a cluster, and comes back with it chosen and connected', async () => {
  await workbench.host.command('workbench.action.closeAllEditors');
  await workbench.host.command('trainyard.newRun', { profile: 'local' });
  const form = workbench.webview();
  const data = form.getByLabel('Training images');
  await data.fill('~/images');
  await form.getByLabel('Profile', { exact: true }).selectOption({ label: 'Add a cluster…' });
  await flow.described();
  await flow.press('ArrowDown', 'ArrowDown', 'ArrowDown', 'Space', 'Enter');
  await flow.widget().getByText('Enter connects to gpu2').waitFor();
  await flow.press('Enter');
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
  const before = flow.profiles();
  await flow.begin();
  await flow.typeHost('127.0.0.3');
  await flow.press('Enter');
  await flow.widget().getByText('Enter connects to 127.0.0.3').waitFor();
  await flow.press('Enter');
  await flow
    .dialog()
    .getByText(/refused the connection/)
    .waitFor();
  await flow.dialog().getByText('Jump Host…').waitFor();
  await flow.press('Escape');
  await flow.dialog().waitFor({ state: 'detached' });
  expect(flow.profiles()).toBe(before);
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
  expect(clusters.find(({ label }) => label === 'gpu2')?.description).toContain('not connected');
});

test('one host by its alias, which the host itself cannot resolve: a run on it is seen training', async () => {
  await flow.begin();
  await flow.press('ArrowDown', 'ArrowDown', 'Space', 'Enter');
  await flow.widget().getByText('Enter connects to gpu1').waitFor();
  await flow.press('Enter');
  await flow.widget().getByText('gpu1 is connected: 1 node').waitFor({ timeout: 120_000 });
  await flow.press('Enter'); // a run on drawn images
  await workbench.webview().getByText('profile gpu1').waitFor({ timeout: 120_000 });
  await workbench.webview().getByText('epoch 1/12').waitFor({ timeout: 45_000 }); // a node that does not join: 60 s
}, 300_000);

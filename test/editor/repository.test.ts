// Fault 15: a repository that brings profiles and settings of Trainyard starts nothing by itself,
// and its profiles are nobody's before somebody has looked at them.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './support/hostClient.js';
import { answer, pick } from './support/questions.js';
import { Workbench } from './support/workbench.js';

/** Where the repository would like us to go. */
let server: Server;
let visitors = 0;
let workbench: Workbench;

beforeAll(async () => {
  server = createServer((socket) => {
    visitors++;
    socket.destroy();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const host = { host: '127.0.0.1', port, user: 'me' };
  const profiles = JSON.stringify({
    version: 1,
    profiles: [
      { name: 'theirs', kind: 'ssh', hosts: [host] },
      { name: 'local', kind: 'ssh', hosts: [host] },
    ],
  });
  const settings = {
    'trainyard.home': './theirs',
    'trainyard.refreshInterval': 1,
    'trainyard.openTensorBoardOnRun': true,
  };
  workbench = await Workbench.open(undefined, {
    'profiles.json': profiles,
    'theirs/profiles.json': profiles,
    '.trainyard/profiles.json': profiles,
    '.config/trainyard/profiles.json': profiles,
    '.vscode/settings.json': JSON.stringify(settings),
    '.vscode/trainyard.json': profiles.replace('"local"', '"other"'),
  });
});
afterAll(async () => {
  await workbench.close();
  server.close();
});

test('opening it loads no profiles and connects to nobody', async () => {
  await until('the extension', async () => ((await workbench.host.ask('isActive', {})) ? true : undefined));
  await workbench.page.waitForTimeout(3000);
  const { clusters, runs, statusBar } = await workbench.snapshot();
  expect({ clusters, runs, statusBar }).toEqual({ clusters: [], runs: [], statusBar: undefined });
  expect(visitors).toBe(0);
});

test("the views show the user's own profiles, and nobody is connected to", async () => {
  await workbench.showViews();
  const clusters = await until('figures of this machine', async () => {
    const found = (await workbench.snapshot()).clusters;
    return found[0]?.description.includes('GB') === true ? found : undefined;
  });
  expect(clusters.map(({ label }) => label)).toEqual(['local']);
  await workbench.page.waitForTimeout(3000);
  expect(visitors).toBe(0);
});

test('a profile that it brings is used once somebody has looked at it', async () => {
  const { page } = workbench;
  const offer = page.locator('.notification-toast', {
    hasText: 'This workspace brings profiles: theirs, other',
  });
  await offer.getByText('Review…').click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'theirs' }).click();
  const dialog = page.locator('.monaco-dialog-box');
  const { port } = server.address() as AddressInfo;
  await dialog.getByText(`Connects to me@127.0.0.1:${port}`).waitFor();
  await workbench.screenshot('workspace-profile', 'dark', 1280, 800);
  await dialog.getByRole('button', { name: 'Use Profile' }).click();
  await answer(workbench, 'Use the Profile theirs', 'borrowed');
  const saved = await until('the profile', () => {
    const text = readFileSync(join(workbench.folder, 'home/profiles.json'), 'utf8');
    return text.includes('borrowed') ? text : undefined;
  });
  expect(JSON.parse(saved)).toMatchObject({
    profiles: [{ name: 'local' }, { name: 'borrowed', hosts: [{ host: '127.0.0.1', port, user: 'me' }] }],
  });
  expect(visitors).toBe(0);
  // The file opens at the end, and takes the focus from whatever asks something meanwhile.
  await page.locator('.tabs-container .tab.active', { hasText: 'profiles.json' }).waitFor();
});

test('a profile goes into the file of the workspace', async () => {
  const path = join(workbench.folder, 'workspace/.vscode/trainyard.json');
  const exporting = workbench.host.command('trainyard.exportProfile', { profile: 'borrowed' });
  await pick(workbench, 'Where to?', 'Into this workspace');
  await until('the profile', () => (readFileSync(path, 'utf8').includes('"borrowed"') ? true : undefined));
  await exporting; // it still opens the file
});

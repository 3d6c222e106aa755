// Fault 15: a repository that brings profiles and settings of Trainyard starts nothing by itself,
// and its profiles are nobody's.
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './hostClient.js';
import { Workbench } from './workbench.js';

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

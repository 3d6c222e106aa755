// What the editor says of a run whose dashboard is not in front: its end, its failure, its restart.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Film } from './support/film.js';
import { until } from './support/hostClient.js';
import { Workbench } from './support/workbench.js';

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open(undefined, { 'notes.txt': 'another tab\n' });
  const file = join(workbench.folder, 'home/profiles.json');
  const { version, profiles } = JSON.parse(readFileSync(file, 'utf8')) as { version: 1; profiles: object[] };
  await workbench.writeFile(
    file,
    JSON.stringify({ version, profiles: [{ ...profiles[0], maxRestarts: 1 }] }),
  );
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
});
afterAll(() => workbench.close());

const toast = (text: string | RegExp): Locator =>
  workbench.page.locator('.notification-toast', { hasText: text });
const run = (script: string): Promise<unknown> =>
  workbench.host.command('trainyard.runTraining', {
    profile: 'local',
    words: ['/bin/sh', '-c', script],
    ranks: 1,
  });
const clear = (): Promise<unknown> => workbench.host.command('notifications.clearAll');

test('a run that ends well says so, and its button opens the dashboard', async () => {
  await run('sleep 2');
  const said = toast(/sh-[0-9a-f]{4} on local finished after \d+ s/);
  await said.waitFor({ timeout: 30_000 });
  await workbench.screenshot('notification-finished', 'light', 1280);
  await said.getByRole('button', { name: 'Open Dashboard' }).click();
  await until('its dashboard', async () =>
    (await workbench.snapshot()).dashboards.length === 1 ? true : undefined,
  );
  await workbench.host.command('workbench.action.closeActiveEditor');
});

test('a restart says why, and a failure after it is one notification of its own', async () => {
  await clear();
  await run('sleep 2; kill -9 $$');
  await toast(
    /was started again \(restart 1 of 1\): rank 0 on .* was killed by signal 9 \(SIGKILL\)/,
  ).waitFor({
    timeout: 30_000,
  });
  const failure = toast(/on local failed: rank 0 on .* was killed by signal 9/);
  await failure.waitFor({ timeout: 30_000 });
  await workbench.screenshot('notification-failed', 'dark', 1280);
  expect(await failure.getByRole('button', { name: 'Show Log' }).count()).toBe(1);
  expect(await toast(/failed/).count()).toBe(1);

  const [id = ''] = workbench.runs().slice(-1);
  const film = new Film(workbench);
  const resumed = async (button: Locator, press: () => Promise<void>): Promise<void> => {
    await button.waitFor({ timeout: 10_000 });
    const before = workbench.state(id).supervisor.pid;
    await film.interaction('Resume', async () => {
      await press();
      await until('the same run, started again', () =>
        workbench.state(id).supervisor.pid !== before ? true : undefined,
      );
    });
    await until('its failure', () => (workbench.state(id).phase === 'failed' ? true : undefined));
  };
  const said = failure.getByRole('button', { name: 'Resume' });
  await resumed(said, () => said.click());
  expect(film.interactions).toBe(1);
  // Its dashboard is in front, and shows the end.
  const shown = workbench.webview().getByRole('button', { name: 'Resume', exact: true });
  await resumed(shown, () => shown.press('Enter'));
  expect(film.interactions).toBe(2); // of two starts
  await workbench.webview().getByRole('button', { name: 'Resume', exact: true }).waitFor({ timeout: 10_000 });
  await new Promise((resolve) => setTimeout(resolve, 4000)); // two looks at the list
  await workbench.host.command('workbench.action.closeActiveEditor');
});

test('a kind that is muted says nothing, and neither does a run whose dashboard is in front', async () => {
  await clear();
  await workbench.host.ask('setting', { key: 'trainyard.notifications.finished', value: false });
  await run('sleep 1');
  await until('the end in the tree', async () =>
    JSON.stringify((await workbench.snapshot()).runs).includes('finished') ? true : undefined,
  );
  const [id] = workbench.runs().slice(-1);
  await until('the end of the last run', () =>
    workbench.state(id ?? '').phase === 'finished' ? true : undefined,
  );
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: true });
  await run('sleep 2; exit 2');
  await workbench.webview().getByText('failed').first().waitFor({ timeout: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 4000)); // two looks at the list
  expect(await toast(/on local (failed|finished)/).count()).toBe(0);
});

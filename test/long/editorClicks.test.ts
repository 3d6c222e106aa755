// A click on a run's row opens its dashboard, also while the rows are drawn anew all the time.
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../editor/support/hostClient.js';
import { Workbench } from '../editor/support/workbench.js';

const words = 'train --model mlp --data synthetic --threads 1 --batch-size 8 --steps 20'.split(' ');

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
});
afterAll(() => workbench.close());

test('a click on a row opens its dashboard while rows are drawn anew', async () => {
  await workbench.host.command('trainyard.runTraining', { profile: 'local', words, ranks: 1 });
  const dir = workbench.runs().at(-1) ?? '';
  const row = workbench.page.locator('.sidebar .monaco-list-row', { hasText: /mlp-|click/ }).first();
  await row.waitFor();
  for (let round = 0; round < 3; round++) {
    await workbench.host.command('workbench.action.closeAllEditors');
    const drawing = workbench.host.command('trainyard.refresh');
    await row.click();
    await drawing;
    await until(`dashboard ${round}`, async () =>
      (await workbench.snapshot()).dashboards.some((each) => each.visible && each.dir === dir)
        ? true
        : undefined,
    );
  }
  const toasts = workbench.page.locator('.notification-toast', { hasText: 'command' });
  expect(await toasts.count()).toBe(0);
});

test('a click opens a dashboard while a run joins the list and the editor is busy', async () => {
  const { page, host } = workbench;
  const [dir = ''] = workbench.runs();
  await until('its end', () => (workbench.state(dir).phase === 'finished' ? true : undefined));
  const rows = page.locator('.sidebar .monaco-list-row', { hasText: /finished/ });
  for (let round = 0; round < 3; round++) {
    await rows.nth(round).waitFor();
    await host.command('workbench.action.closeAllEditors');
    const box = await rows.last().boundingBox();
    if (!box) throw new Error('the row is not visible');
    cpSync(dir, dir.replace(/.{4}$/, `000${round}`), { recursive: true }); // a run more
    const drawing = host.command('trainyard.refresh');
    // A page that computes hears of the click before it hears that rows are to be drawn anew.
    const computing = page.evaluate((milliseconds) => {
      for (const end = performance.now() + milliseconds; performance.now() < end;);
    }, 700);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await Promise.all([drawing, computing]);
    await until('a dashboard', async () =>
      (await workbench.snapshot()).dashboards.some(({ visible }) => visible) ? true : undefined,
    );
  }
});

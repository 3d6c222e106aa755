// Measure Scaling and Find Fastest Settings: short real runs, the report in a tab, the winner kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinWords } from '../../src/core/plan/request/argv.js';
import { until } from '../editor/support/hostClient.js';
import { answer } from '../editor/support/questions.js';
import { Stage } from '../editor/menus/stage.js';
import { Workbench } from '../editor/support/workbench.js';

let workbench: Workbench;
let stage: Stage;
beforeAll(async () => {
  workbench = await Workbench.open();
  stage = new Stage(workbench);
  await workbench.showViews();
});
afterAll(() => workbench.close());

const measured = { profile: 'local', words: ['train', '--model', 'mlp', '--data', 'synthetic'] };
const tab = (label: string): Promise<true> =>
  until(label, async () =>
    (await workbench.host.ask('tabs', {})).some((each) => each.label === label) ? true : undefined,
  );

test('a scaling report is measured, and shown in a tab', async () => {
  await workbench.host.command('trainyard.measureScaling', { ...measured, replicas: '1' });
  await tab('Scaling of local');
  await workbench.webview().getByRole('heading', { name: 'Weak scaling' }).waitFor();
  await workbench.screenshot('scaling', 'dark', 1600);
  await workbench.host.command('notifications.clearAll');
});

test('the report is there after a reload of the window', async () => {
  await workbench.reload();
  await tab('Scaling of local');
  await workbench.webview().getByRole('heading', { name: 'Weak scaling' }).waitFor();
});

test('its runs stand below a row of the report, and an own run beside it', async () => {
  await workbench.showViews();
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  await workbench.host.command('trainyard.runTraining', {
    ...{ profile: 'local', words: ['/bin/sh', '-c', 'true'] },
  });
  const report = stage.row('runs', /^Scaling of local/);
  const point = stage.row('runs', /^weak scaling 1 ?finished/);
  const { keyboard } = workbench.page;
  await stage.row('runs', /^sh-\w+ ?finished/).waitFor();
  expect(await stage.pane('runs').locator('.monaco-list-row').count()).toBe(2);
  expect(await report.innerText()).toMatch(/\d measured · best [\d,]+ img\/s · mlp/);
  expect(await report.getAttribute('aria-label')).toMatch(/^Scaling of local, \d measured · best/);
  await stage.reads(report);
  await report.click();
  await point.waitFor();
  expect(await report.getAttribute('aria-expanded')).toBe('true');
  await workbench.screenshot('report-runs', 'dark', 1600);
  await workbench.screenshot('report-runs', 'light', 1000);
  await point.click();
  await stage.dashboard();
  // By the keyboard: below the own run stands the report, which closes and opens, and has its runs.
  await workbench.host.command('trainyard.runs.focus');
  for (const key of ['Home', 'ArrowDown']) await keyboard.press(key);
  for (const [key, open] of [
    ['ArrowLeft', 'false'],
    ['ArrowRight', 'true'],
    ['Enter', 'false'],
    ['Enter', 'true'],
  ]) {
    await keyboard.press(key ?? '');
    await until(`${key}: ${open}`, async () =>
      (await report.getAttribute('aria-expanded')) === open ? true : undefined,
    );
  }
  for (const key of ['ArrowDown', 'Enter']) await keyboard.press(key);
  await stage.dashboard();
});

test('a report whose tab was closed opens again: by its row, and by the palette', async () => {
  const closed = async (): Promise<void> => {
    await workbench.host.command('workbench.action.closeAllEditors');
    expect(await workbench.host.ask('tabs', {})).toEqual([]);
  };
  await closed();
  await stage.click('runs runs.report menu openReport', /^Scaling of local/);
  await tab('Scaling of local');
  await workbench.webview().getByRole('heading', { name: 'Weak scaling' }).waitFor();
  await closed();
  await workbench.palette('Trainyard: Open Report');
  await workbench.page.keyboard.press('Enter');
  const kept = workbench.page.locator('.quick-input-list .monaco-list-row');
  await kept.filter({ hasText: 'Scaling of local' }).waitFor();
  expect(await kept.count()).toBe(1);
  await workbench.screenshot('open-report', 'dark', 1000);
  await workbench.page.keyboard.press('Enter');
  await tab('Scaling of local');
  await workbench.webview().getByRole('heading', { name: 'Weak scaling' }).waitFor();
});

test('one that was ended goes on, and keeps what was measured', async () => {
  const before = workbench.runs();
  const measuring = workbench.host.command('trainyard.measureScaling', { profile: 'local' });
  await answer(workbench, 'Measure Scaling of local', joinWords(measured.words));
  await answer(workbench, 'Numbers of ranks to try', '1,2');
  const goOn = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Go On' });
  await goOn.waitFor();
  expect(await goOn.innerText()).toContain('2 of 4 points are kept');
  await goOn.click();
  await measuring;
  const ranks = workbench
    .runs()
    .filter((dir) => !before.includes(dir))
    .map((dir) => (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { ranks: number }).ranks);
  // Two of trainings, and two of sums alone.
  expect(ranks).toEqual([2, 2, 2, 2]);
  const rows = workbench.webview().locator('table').first().locator('tbody tr');
  await until('the point that was measured anew', async () => ((await rows.count()) >= 2 ? true : undefined));
  await workbench.host.command('notifications.clearAll');
});

test('the best settings are found, shown in a tab, and kept where that is asked for', async () => {
  const short = { ...measured, replicas: '1,2', minutes: 0.4 };
  await workbench.host.command('trainyard.findBestSettings', short);
  await tab('Fastest settings of local');
  await workbench.webview().getByRole('heading', { name: 'Candidates' }).waitFor();
  await workbench.screenshot('bakeoff', 'dark', 1600);
  // Its runs were stopped once they had trained for long enough, which is no news.
  const ofRuns = workbench.page.locator('.notification-toast', {
    hasText: /on local (stopped|failed|finished)/,
  });
  expect(await ofRuns.count()).toBe(0);
  await workbench.page.getByRole('button', { name: 'Save to Profile' }).click();
  const path = join(workbench.folder, 'home/profiles.json');
  await until('what is kept for trainings', () =>
    Promise.resolve(readFileSync(path, 'utf8').includes('"why": "bake-off of') ? true : undefined),
  );
});

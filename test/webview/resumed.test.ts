// A run that was stopped and resumed: its charts stand by run time, which leaves the pause out.
import { expect, test } from 'vitest';
import { dashboards } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const show = dashboards();

/** It has run for so long, until now. */
function runOf(kind: keyof typeof simulated, seconds: number): SimulatedRun {
  const run = new SimulatedRun(simulated[kind], Date.now() / 1000 - seconds);
  run.run(seconds);
  return run;
}

test('stands by run time from its first start, which leaves the pause out and says so', async () => {
  const run = runOf('local', 400);
  run.end('stopped', 'asked by me');
  run.resume(14 * 3600);
  run.run(200);
  const dashboard = await show(run);
  const { page } = dashboard;
  await expect.poll(() => dashboard.text('.facts')).toContain('10 min so far');
  expect(await page.locator('.card .at').first().innerText()).toMatch(/ · (9:59|10:00)$/);
  const axis = page.getByLabel('X axis');
  expect(await axis.locator('option:checked').innerText()).toBe('run time');
  expect(await page.locator('label', { has: axis }).getAttribute('title')).toContain('left out');
  await page.getByText('a pause of 14 h left out').waitFor();
  // On the timeline the end and the resume after it stand where the pause is missing.
  const seam = page.locator('.mark-resume');
  expect(await seam.getAttribute('aria-label')).toMatch(/^6:40 .*stopped: asked by me — 6:40 · resumed/);
  expect(parseFloat((await seam.getAttribute('style'))!.replace('left:', ''))).toBeCloseTo(66.7, 0);
  for (const width of [1200, 420]) {
    await page.setViewportSize({ width, height: 900 });
    await dashboard.settled();
    await dashboard.screenshot(`resumed-${width}`);
  }
  await axis.selectOption('step');
  await expect.poll(() => page.getByText('left out').count()).toBe(0);
});

test('is the same for those who look in light colours', async () => {
  const run = runOf('local', 100);
  for (const pause of [3600, 7200]) {
    run.end('failed', 'exit 1');
    run.resume(pause);
    run.run(300);
  }
  const dashboard = await show(run, { theme: 'light' });
  await dashboard.page.getByText('2 pauses, 3 h in all, left out').waitFor();
  await dashboard.screenshot('resumed-twice-light');
});

test('figures of an own program stand by run time too', async () => {
  const run = runOf('command', 100);
  run.report('loss', '', 1, 4);
  run.end('stopped', null);
  run.resume(7200);
  run.run(60);
  run.report('loss', '', 2, 3);
  const { page } = await show(run);
  await page.getByText('a pause of 2 h left out').waitFor();
  await page.locator('trainyard-figure').getByRole('button', { name: 'Table' }).click();
  const times = page.locator('trainyard-figure tbody td:first-child, trainyard-figure tbody th');
  await times.nth(1).waitFor();
  expect((await times.allInnerTexts()).map((text) => text.trim())).toEqual(['2:40', '1:40']);
});

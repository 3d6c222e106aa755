// What a reader of the dashboard sees of an own program's figures, in a real browser. The runs are
// simulated.
import { describe, expect, it } from 'vitest';
import { findings } from './findings.js';
import { dashboards } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const show = dashboards();

/** An own program that reports `tags` for `steps` seconds, a step each. */
function ownRun(tags: readonly string[], steps: number, writers: readonly string[] = ['']): SimulatedRun {
  const run = new SimulatedRun(simulated.command, Date.now() / 1000 - steps, 1, 2);
  for (let step = 1; step <= steps; step++) {
    run.run(1);
    tags.forEach((tag, index) => {
      writers.forEach((writer, who) => {
        const value = tag.includes('loss') ? 2.3 * Math.exp(-step / 60) + 0.02 * who : step * (index + 1);
        run.report(tag, writer, step, value + 0.05 * Math.sin(step * 1.7 + index));
      });
    });
  }
  return run;
}
const ofTrain = ['images_per_sec', 'train/loss', 'train/accuracy', 'train/lr', 'eval/loss', 'eval/accuracy'];

describe('figures of an own program', () => {
  it.each([
    ['dark', 1200],
    ['light', 1200],
    ['high-contrast', 800],
    ['light', 400],
  ] as const)('are charts in groups (%s, %d px)', async (theme, width) => {
    const run = ownRun(ofTrain, 200);
    run.mark('restart', 120, 'started with 2 ranks, generation 2');
    const dashboard = await show(run, { theme, width });
    await dashboard.page.waitForSelector('trainyard-figure .u-over');
    const groups = await dashboard.page.locator('.figuregroup > summary h3').allInnerTexts();
    expect(groups).toEqual(['eval', 'train']);
    const titles = await dashboard.page.locator('trainyard-figure h4').allInnerTexts();
    expect(titles).toEqual(['images_per_sec', 'accuracy', 'loss', 'accuracy', 'loss', 'lr']);
    await dashboard.screenshot(`own-${theme}-${width}`);
    expect(await findings(dashboard)).toEqual([]);
  });

  it('grow with what is reported, and a keyboard and a table read them', async () => {
    const run = ownRun(['train/loss'], 50, ['rank 0', 'rank 1']);
    const dashboard = await show(run);
    const card = dashboard.page.locator('trainyard-figure');
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 50');
    run.run(1);
    run.report('train/loss', 'rank 0', 51, 0.125);
    await dashboard.sendUpdate();
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 51');
    await expect.poll(() => card.locator('.legend').innerText()).toContain('rank 0 0.1250');
    await card.locator('.plot').focus();
    await dashboard.page.keyboard.press('ArrowLeft');
    await dashboard.page.keyboard.press('ArrowLeft');
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 50');
    expect(await card.locator('.plot').getAttribute('aria-label')).toMatch(
      /^train\/loss at step 51: rank 0 0\.1250/,
    );
    await card.getByRole('button', { name: 'Table' }).click();
    await expect.poll(() => card.locator('tbody tr').first().innerText()).toMatch(/51\s+0\.1250/);
  });

  it('stand by their steps where those rise, with the crosshair, the marks and the table', async () => {
    const run = ownRun(['train/loss', 'train/lr'], 100, ['rank 0']);
    run.mark('restart', 60, 'started with 2 ranks, generation 2');
    for (let step = 1000; step <= 1100; step += 10) {
      run.run(1);
      run.report('train/loss', 'rank 0', step, 0.25);
    }
    const dashboard = await show(run);
    const card = dashboard.page.locator('trainyard-figure').first();
    const plot = card.locator('.plot');
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 1,100');
    await dashboard.page.getByLabel('X axis').selectOption('step');
    await plot.focus();
    await dashboard.page.keyboard.press('ArrowLeft');
    await dashboard.page.keyboard.press('ArrowLeft');
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 1,090');
    // Ten seconds of steps from 1000 on are most of this axis, and a tenth of the time axis.
    const box = (await card.locator('.u-over').boundingBox())!;
    await dashboard.page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await expect.poll(() => card.locator('.at').innerText()).toBe('step 100');
    await dashboard.screenshot('own-steps');
    await card.getByRole('button', { name: 'Table' }).click();
    await expect.poll(() => card.locator('tbody tr').first().innerText()).toMatch(/1,100\s+0\.2500/);
    expect(await findings(dashboard)).toEqual([]);
  });

  it('whose steps stand still have the time alone', async () => {
    const run = new SimulatedRun(simulated.command, Date.now() / 1000 - 20, 1, 2);
    run.run(1);
    run.report('loss', '', 0, 1);
    run.report('accuracy', '', 0, 0.5);
    const dashboard = await show(run);
    await dashboard.page.waitForSelector('trainyard-figure .u-over');
    expect(await dashboard.page.getByLabel('X axis').count()).toBe(0);
  });

  it('of many names are closed groups with a filter', async () => {
    const tags = Array.from({ length: 60 }, (_, index) => `layer${Math.floor(index / 10)}/norm${index % 10}`);
    const dashboard = await show(ownRun([...tags, 'train/loss'], 20));
    await dashboard.page.waitForSelector('trainyard-figure .u-over');
    expect(await dashboard.page.locator('.figuregroup').count()).toBe(7);
    expect(await dashboard.page.locator('.figuregroup[open]').count()).toBe(1);
    await dashboard.page.getByLabel('Filter figures by name').fill('loss');
    await expect.poll(() => dashboard.page.locator('trainyard-figure').count()).toBe(1);
    await dashboard.page.getByLabel('Filter figures by name').fill('nothing');
    await expect
      .poll(() => dashboard.text('trainyard-figures'))
      .toContain('No figure has “nothing” in its name.');
  });
});

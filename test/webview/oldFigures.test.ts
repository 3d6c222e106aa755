// Figures that are not current: grey, still readable, and the page says why.
import { describe, expect, it } from 'vitest';
import { findings } from './findings.js';
import { dashboards, type Dashboard } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const show = dashboards();

function runOf(kind: keyof typeof simulated, seconds: number): SimulatedRun {
  const run = new SimulatedRun(simulated[kind], Date.now() / 1000 - seconds, 1, 1);
  run.run(seconds);
  return run;
}

/** What axe finds in the page in each theme. The page is dark afterwards. */
async function findingsInThemes(dashboard: Dashboard): Promise<string[]> {
  const found = [];
  for (const theme of ['light', 'high-contrast', 'high-contrast-light', 'dark'] as const) {
    await dashboard.setTheme(theme);
    found.push(...(await findings(dashboard)));
  }
  return found;
}

describe('old figures', () => {
  it('fade while a run restarts, and the header says why', async () => {
    const run = runOf('cluster', 900);
    const dashboard = await show(run);
    await expect.poll(() => dashboard.text('.health')).toContain('healthy');
    const text = 'restarting: rank 1 on gpu2 was killed by signal 9 (SIGKILL), from step 80, restart 1 of 2';
    run.health = { level: 'warning', text, hasOldFigures: true };
    run.now += 1;
    await dashboard.sendUpdate();
    await expect.poll(() => dashboard.text('.health-warning')).toContain(text);
    await dashboard.page.waitForSelector('.standing.faded');
    expect(await findingsInThemes(dashboard)).toEqual([]);
    await dashboard.screenshot('restarting');
    run.health = { level: 'good', text: 'healthy, 1 restart', hasOldFigures: false };
    run.now += 1;
    await dashboard.sendUpdate();
    await dashboard.page.waitForSelector('.standing:not(.faded)');
  });

  it('fade and say how old they are when no updates come', async () => {
    const run = runOf('local', 60);
    run.now += 20;
    const dashboard = await show(run);
    await expect.poll(() => dashboard.text('.tile .age')).toMatch(/^2\d s old$/);
    run.connection = { state: 'lost', since: run.now - 8 };
    await dashboard.sendUpdate();
    await expect.poll(() => dashboard.text('.banner.lost')).toMatch(/lost \d+ s ago, trying again/);
    await expect.poll(() => dashboard.text('.status')).toContain('last known: running');
    await expect.poll(() => dashboard.attribute('data-state')).toBe('lost');
    expect(await findingsInThemes(dashboard)).toEqual([]);
    await dashboard.screenshot('lost');
  });
});

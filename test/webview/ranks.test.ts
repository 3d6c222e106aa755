// What the dashboard says of single ranks, in a real browser. The run is simulated.
import { expect, it } from 'vitest';
import { dashboards } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const openDashboard = dashboards();

it('tiles of ranks say where their time goes, and which one is slow', async () => {
  const run = new SimulatedRun(simulated.local, Date.now() / 1000 - 5);
  run.run(5);
  const slow = 'slow: computes 96% longer than the median of the others';
  Object.assign(run.ranks[0]!, { times: { compute: 41.25, comm: 38.5, input: 0.2 } });
  Object.assign(run.ranks[1]!, { times: { compute: 80.9, comm: 1, input: 0.2 }, slow });
  const dashboard = await openDashboard(run);
  const tiles = (): Promise<string[]> => dashboard.page.locator('.tile.compact').allInnerTexts();
  await expect.poll(async () => (await tiles())[1]).toContain(slow);
  const [alike, lame] = await tiles();
  expect(alike).toMatch(/compute\s+41\.3 ms\s+comm\s+38\.5 ms\s+input wait\s+0\.20 ms/);
  expect(alike).not.toContain('slow');
  expect(lame).toMatch(/compute\s+80\.9 ms/);
  await dashboard.screenshot('slow-rank');
  Object.assign(run.ranks[1]!, { slow: '' });
  run.run(2);
  await dashboard.sendUpdate();
  await expect.poll(async () => (await tiles())[1]).not.toContain('slow');
});

it('a heat map has a tile of the slow rank below it', async () => {
  const run = new SimulatedRun(simulated.huge, Date.now() / 1000 - 5);
  run.run(5);
  const slow = 'slow: waits for images 41 ms a step longer than the median of the others';
  Object.assign(run.ranks[9]!, { times: { compute: 41.25, comm: 1, input: 41.5 }, slow });
  const dashboard = await openDashboard(run);
  await dashboard.page.waitForSelector('trainyard-heat');
  const tiles = dashboard.page.locator('.tile.compact');
  await expect.poll(() => tiles.count()).toBe(1);
  expect(await tiles.first().innerText()).toContain('Rank 9');
  expect(await tiles.first().innerText()).toContain(slow);
});

// Devices below their hosts, in a real browser: 2, 8, 32 and 256 of them. All figures are
// simulated.
import { expect, it } from 'vitest';
import { bytesOf, percentOf100 } from '../../src/webview/dashboard/model/format.js';
import { findings } from './findings.js';
import { dashboards, type Dashboard } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const openDashboard = dashboards();

async function show(kind: keyof typeof simulated, seconds = 240): Promise<[Dashboard, SimulatedRun]> {
  const run = new SimulatedRun(simulated[kind], Date.now() / 1000 - seconds, 4, 1);
  run.run(seconds);
  return [await openDashboard(run), run];
}
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

it('stand below their hosts, whose line has the sums; a host closes and opens, and stays so', async () => {
  const [dashboard, run] = await show('cluster');
  const { page } = dashboard;
  const [first] = run.hosts;
  const group = page.locator('.hostgroup').first();
  expect(await page.locator('.hostgroup.open').count()).toBe(2);
  expect(await page.locator('trainyard-heat').count()).toBe(0);
  const words = async (): Promise<string> => (await group.locator('.sums').innerText()).replace(/\s+/g, ' ');
  const use = sum(first!.gpus.map(({ utilization }) => utilization.at(-1)!)) / 4;
  const used = sum(first!.gpus.map((gpu) => gpu.used.at(-1)!));
  const total = sum(first!.gpus.map(({ memoryTotal }) => memoryTotal));
  await expect.poll(words).toContain(`use of 4 GPUs ${percentOf100(use)} GPU memory ${bytesOf(used, total)}`);
  await expect.poll(words).toContain(`CPU ${percentOf100(first!.cpuPercent.at(-1)!)}`);
  expect(await group.locator('.tiles:not(.compact) .tile').count()).toBe(4);
  expect(await group.locator('.tiles.compact .tile').count()).toBe(4); // its ranks
  const button = group.getByRole('button', { name: first!.host });
  await button.press('Enter');
  await expect.poll(() => group.locator('.tile').count()).toBe(0);
  expect(await button.getAttribute('aria-expanded')).toBe('false');
  await page.reload();
  await dashboard.settled();
  await expect.poll(() => page.locator('.hostgroup.open').count()).toBe(1);
  await group.getByRole('button', { name: first!.host }).click();
  await expect.poll(() => group.locator('.tile').count()).toBe(8);
});

it('are a heat grid from 17 on, above hosts that open', async () => {
  const [dashboard, run] = await show('rack');
  const { page } = dashboard;
  await page.locator('trainyard-heat canvas').waitFor();
  await expect.poll(() => dashboard.text('trainyard-heat .told')).toContain('32 GPUs, utilization now');
  expect(await page.locator('.hostgroup').count()).toBe(4);
  expect(await page.locator('.hostgroup .tile').count()).toBe(0);
  const ill = run.hosts[2]!;
  ill.gpus[5]!.trouble = 'slowed down by heat';
  run.run(1);
  await dashboard.sendUpdate();
  const group = page.locator('.hostgroup').nth(2);
  await group.getByText('trouble on 1 GPU').waitFor();
  await group.getByRole('button', { name: ill.host }).click();
  await group.getByText('slowed down by heat').waitFor();
  expect(await group.locator('.tiles:not(.compact) .tile').count()).toBe(8);
});

it.each(['command', 'cluster', 'rack', 'huge'] as const)(
  '%s: fit in every width, dark and light, without a serious finding',
  async (kind) => {
    const [dashboard, run] = await show(kind, kind === 'huge' ? 60 : 240);
    const devices = sum(run.hosts.map(({ gpus }) => gpus.length));
    const { page } = dashboard;
    const part = page.locator('trainyard-devices');
    for (const theme of ['dark', 'light'] as const) {
      await dashboard.setTheme(theme);
      run.run(Date.now() / 1000 - run.now); // its figures are current
      await dashboard.sendUpdate();
      expect(await findings(dashboard)).toEqual([]);
      for (const width of [300, 400, 800, 1280, 1600]) {
        await page.setViewportSize({ width, height: 900 });
        await part.scrollIntoViewIfNeeded();
        await page.waitForTimeout(200);
        const wide = await part.evaluate((element) =>
          [...element.querySelectorAll('*')]
            .filter((each) => !each.closest('.tablebox'))
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
            .map((each) => each.outerHTML.slice(0, 120)),
        );
        expect(wide, `at ${width} px`).toEqual([]);
        await dashboard.screenshotOf(part, `devices-${devices}-${theme}-${width}`);
      }
    }
  },
);

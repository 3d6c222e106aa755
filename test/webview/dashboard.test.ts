// What a reader of the dashboard sees and does, in a real browser. The runs are simulated.
import { describe, expect, it } from 'vitest';
import { count, percent, rate } from '../../src/webview/dashboard/model/format.js';
import { findings } from './findings.js';
import { dashboards } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const show = dashboards();

/** Ends now, so that its figures are current. */
function runOf(kind: keyof typeof simulated, seconds: number, rowEvery = 1, sampleEvery = 1): SimulatedRun {
  const run = new SimulatedRun(simulated[kind], Date.now() / 1000 - seconds, rowEvery, sampleEvery);
  run.run(seconds);
  return run;
}

describe('figures', () => {
  it('are the last that were sent', async () => {
    const run = runOf('local', 900);
    const dashboard = await show(run);
    run.run(5);
    await dashboard.sendUpdate();
    const { steps } = run;
    await dashboard.page.waitForSelector(`#app[data-step="${run.lastStep}"]`);
    const header = await dashboard.text('trainyard-header');
    expect(header).toContain(run.options.name);
    expect(header).toContain('running on this machine, 2 ranks');
    expect(header).toContain(`step ${count(run.lastStep)}/15,640`);
    expect(header).toContain(rate(steps.imagesPerSec.at(-1) ?? null));
    expect(header).toContain(percent(Math.max(...run.evaluations.map(({ top1 }) => top1))));
    await expect
      .poll(() => dashboard.text('trainyard-chart:has(#chart-throughput) section .at'))
      .toMatch(new RegExp(`^step ${count(run.lastStep)} `));
    await expect
      .poll(() => dashboard.text('.tile'))
      .toContain(`${Math.round(run.hosts[0]!.cpuPercent.at(-1)!)}%`);
    await expect.poll(() => dashboard.attribute('data-state')).toBe('live');
  });

  it('a run that began with weights of another one, or went on, says so with links', async () => {
    const run = runOf('local', 60);
    const dashboard = await show(run);
    await expect.poll(() => dashboard.text('trainyard-header')).toContain('running');
    expect(await dashboard.page.locator('.origin').count()).toBe(0);
    run.from = { name: 'resnet20-1f2e', step: 1200 };
    run.resumedFrom = 60;
    run.now += 1;
    await dashboard.sendUpdate();
    await expect
      .poll(async () => (await dashboard.text('.origin')).replace(/\s+/g, ' ').trim())
      .toBe('from resnet20-1f2e step 1,200 · resumed from step 60');
    await dashboard.page.getByRole('button', { name: 'resnet20-1f2e step 1,200' }).click();
    await expect.poll(() => dashboard.posted.at(-1)).toEqual({ type: 'action', action: 'openOrigin' });
    await dashboard.page.locator('.origin').getByRole('button', { name: 'step 60', exact: true }).click();
    await expect.poll(() => dashboard.posted.at(-1)).toEqual({ type: 'action', action: 'showCheckpoints' });
    await dashboard.screenshot('origin');
  });

  it('what a run costs stands beside its time', async () => {
    const run = runOf('local', 60);
    run.cost = {
      soFar: '4.61 USD',
      atEnd: '35.20 USD',
      perEpoch: '0.39 USD',
      spent: '3.10 USD until top-1 80%',
    };
    const dashboard = await show(run);
    const facts = async (): Promise<string> => (await dashboard.text('.facts')).replace(/\s+/g, ' ').trim();
    await expect
      .poll(facts)
      .toContain('cost so far 4.61 USD about 35.20 USD in all, 0.39 USD an epoch, 3.10 USD until top-1 80%');
    await dashboard.screenshot('cost');
    run.cost = null;
    run.now += 1;
    await dashboard.sendUpdate();
    await expect.poll(facts).not.toContain('cost');
  });
});

describe('charts', () => {
  it('share the crosshair, zoom together, and are reset by a double click', async () => {
    const dashboard = await show(runOf('local', 900));
    const { page } = dashboard;
    const box = (await page.locator('trainyard-chart .u-over').first().boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 50);
    await page.waitForTimeout(100);
    const steps = await page.locator('.card .at').allInnerTexts();
    expect(new Set(steps).size).toBe(1);
    expect(steps[0]).not.toContain(`step ${count(runOf('local', 900).lastStep)} `);
    await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const { zoom } = (await dashboard.kept()) as { zoom: [number, number] };
    expect(zoom[0]).toBeGreaterThan(200);
    expect(zoom[1]).toBeLessThan(470);
    await page.mouse.dblclick(box.x + box.width / 2, box.y + 50);
    expect((await dashboard.kept())['zoom']).toBeUndefined();
  });

  it('stand by time, by step or by epoch', async () => {
    const run = runOf('local', 900);
    const dashboard = await show(run);
    const { page } = dashboard;
    const box = (await page.locator('trainyard-chart .u-over').first().boundingBox())!;
    for (const axis of ['step', 'epoch', 'time']) {
      await page.getByLabel('X axis').selectOption(axis);
      await page.mouse.move(box.x + box.width * 0.5, box.y + 50);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.9, box.y + 60, { steps: 4 });
      await page.mouse.up();
      const { zoom } = (await dashboard.kept()) as { zoom: [number, number] };
      const end = { step: run.lastStep, epoch: run.steps.epoch.at(-1)!, time: 900 }[axis]!;
      expect(zoom[0] / end).toBeCloseTo(0.5, 1);
      expect(zoom[1] / end).toBeCloseTo(0.9, 1);
    }
    await page.getByLabel('X axis').selectOption('step');
    expect((await dashboard.kept())['zoom']).toBeUndefined();
  });

  it('show the first step of a run, which makes no line yet', async () => {
    const run = runOf('local', simulated.local.secondsPerStep * 1.5);
    expect(run.steps.step).toHaveLength(1);
    const { page } = await show(run);
    const coloured = (): Promise<number> =>
      page.locator('trainyard-chart:has(#chart-throughput) canvas').evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
        let count = 0;
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3]! > 200 && Math.abs(data[at]! - data[at + 2]!) > 60) count++;
        return count;
      });
    await expect.poll(coloured).toBeGreaterThan(10);
  });

  it('stand still while paused, and catch up', async () => {
    const run = runOf('local', 300);
    const dashboard = await show(run);
    const before = run.lastStep;
    const top = async (): Promise<number> => (await dashboard.page.locator('.grid').boundingBox())!.y;
    const stood = await top();
    await dashboard.page.getByRole('button', { name: 'Pause charts' }).click();
    run.run(20);
    await dashboard.sendUpdate();
    const at = 'trainyard-chart:has(#chart-loss) section .at';
    await expect.poll(() => dashboard.text(at)).toMatch(new RegExp(`^step ${count(before)} `));
    await expect.poll(() => dashboard.text('.pausedat')).toContain(`Charts paused at step ${count(before)}`);
    expect(await top()).toBe(stood);
    await dashboard.page.getByRole('button', { name: 'Follow' }).click();
    await dashboard.page.waitForSelector(`#app[data-step="${run.lastStep}"]`);
    await expect.poll(() => dashboard.text(at)).toMatch(new RegExp(`^step ${count(run.lastStep)} `));
  });

  it('have a table with the newest row, and a summary in words', async () => {
    const run = runOf('local', 900);
    const dashboard = await show(run);
    const chart = dashboard.page.locator('trainyard-chart:has(#chart-loss)');
    await chart.getByRole('button', { name: 'Table' }).click();
    await expect.poll(() => chart.locator('tbody tr').count()).toBe(100);
    await chart.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => chart.locator('tbody tr').count()).toBe(run.steps.step.length);
    await expect.poll(() => chart.locator('tbody tr').first().innerText()).toContain(count(run.lastStep));
    await expect
      .poll(() => chart.locator('.plot').getAttribute('aria-label'))
      .toContain(`Loss at step ${count(run.lastStep)}`);
  });

  it('are read by keyboard', async () => {
    const run = runOf('local', 300);
    const { page } = await show(run);
    await page.locator('.plot').first().focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.waitForTimeout(100);
    await expect
      .poll(() => page.locator('.card .at').last().innerText())
      .toMatch(new RegExp(`^step ${count(run.lastStep - 1)} `));
    await page.keyboard.press('+');
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor({ state: 'detached' });
  });
});

describe('acts', () => {
  it('stop by keyboard, from a menu that gives the focus back', async () => {
    const dashboard = await show(runOf('local', 60));
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Stop' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'After a checkpoint' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => dashboard.posted.at(-1)).toEqual({ type: 'action', action: 'stopNow' });
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent.trim()))
      .toContain('Stop');
  });

  it('reaches everything with the tab key', async () => {
    const { page } = await show(runOf('local', 900));
    const reached = new Set<string>();
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(() => {
          const element = document.activeElement;
          const [first = ''] = element?.className.split(' ') ?? [];
          return first === '' ? (element?.tagName.toLowerCase() ?? '') : first;
        }),
      );
    }
    for (const part of ['secondary', 'icon', 'plot', 'toggle', 'mark', 'select', 'lines', 'input'])
      expect(reached).toContain(part);
  });
});

describe('messages', () => {
  it('that were missed are asked for again', async () => {
    const run = runOf('local', 60);
    const dashboard = await show(run);
    run.run(2);
    run.update();
    run.run(2);
    const readies = (): number => dashboard.posted.filter(({ type }) => type === 'ready').length;
    const before = readies();
    await dashboard.send(run.update());
    await expect.poll(readies).toBe(before + 1);
    await dashboard.page.waitForSelector(`#app[data-step="${run.lastStep}"]`);
  });

  it('keeps how the page was set over a reload', async () => {
    const dashboard = await show(runOf('local', 300));
    const { page } = dashboard;
    const loss = page.locator('trainyard-chart:has(#chart-loss)');
    await loss.getByRole('button', { name: 'log' }).click();
    await page.getByLabel('Smoothing').fill('0.9');
    await page.getByLabel('Filter the log').fill('step 100');
    await page.locator('.plot').first().focus();
    await page.keyboard.press('+');
    await page.waitForTimeout(200);
    await page.reload();
    await dashboard.settled();
    await expect
      .poll(() => loss.getByRole('button', { name: 'log' }).getAttribute('aria-pressed'))
      .toBe('true');
    await expect.poll(() => page.getByLabel('Smoothing').inputValue()).toBe('0.9');
    await expect.poll(() => page.getByLabel('Filter the log').inputValue()).toBe('step 100');
    await expect.poll(() => page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(1);
  });

  it('tell what happened while nobody looked', async () => {
    const run = runOf('cluster', 600, 5, 5);
    const dashboard = await show(run);
    await dashboard.page.evaluate(() => {
      const state = JSON.parse(localStorage.getItem('state') ?? '{}') as Record<string, unknown>;
      localStorage.setItem('state', JSON.stringify({ ...state, lastSeen: Number(state['lastSeen']) - 595 }));
      // The page notes, when it goes, that it was seen just now.
      Storage.prototype.setItem = () => undefined;
    });
    await dashboard.page.reload();
    await dashboard.settled();
    await expect
      .poll(() => dashboard.text('.banner.away'))
      .toMatch(/While you were away \(10 min\): \d checkpoints?, best \d+\.\d%/);
    await dashboard.page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => dashboard.page.locator('.banner.away').count()).toBe(0);
  });

  it('tell of a failure only until somebody resumes the run', async () => {
    const run = runOf('cluster', 600, 5, 5);
    run.end('failed', 'rank 1 was killed');
    const dashboard = await show(run);
    await dashboard.page.evaluate((seen) => {
      const state = JSON.parse(localStorage.getItem('state') ?? '{}') as Record<string, unknown>;
      localStorage.setItem('state', JSON.stringify({ ...state, lastSeen: seen }));
      Storage.prototype.setItem = () => undefined;
    }, run.now - 500);
    await dashboard.page.reload();
    await dashboard.settled();
    await expect.poll(() => dashboard.text('.banner.away')).toMatch(/the run failed$/);
    run.resume(30);
    run.run(20);
    await dashboard.send(run.update());
    await expect.poll(() => dashboard.page.locator('.banner.away').count()).toBe(0);
  });
});

describe('looks', () => {
  const everySituation: [string, () => SimulatedRun][] = [
    ['local', () => runOf('local', 4200, 8, 5)],
    ['cluster', () => runOf('cluster', 5400, 20, 10)],
    ['huge', () => runOf('huge', 120, 4, 1)],
    [
      'finished',
      () => {
        const run = runOf('local', 5500, 8, 10);
        run.end('finished', null);
        return run;
      },
    ],
    [
      'failed',
      () => {
        const run = runOf('cluster', 400, 2, 2);
        run.mark('rank-lost', run.lastStep, 'rank 3 on gpu1 ended: exit 1');
        run.say('rank 3', 'error', 'out of memory: 1.2 GB asked for, 0.4 GB free');
        run.end('failed', 'out of memory on gpu1, rank 3: batch 192 would fit');
        return run;
      },
    ],
    [
      'command',
      () => {
        const run = runOf('command', 300, 1, 2);
        for (let trial = 1; trial <= 12; trial++)
          run.say('rank 0', 'info', `trial ${trial}: score 0.${7 * trial + 12}`);
        return run;
      },
    ],
    [
      'starting',
      () => {
        const run = new SimulatedRun(simulated.local, Date.now() / 1000);
        run.status = 'starting';
        return run;
      },
    ],
  ];

  it.each(everySituation)('%s: nothing wider than the window, no serious finding', async (name, make) => {
    const dashboard = await show(make());
    const { page } = dashboard;
    for (const width of [300, 800, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(300);
      const overflow = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter((element) => !element.closest('.plot, .lines, .tablebox, .hidden'))
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.outerHTML.slice(0, 120)),
      );
      expect(overflow, `at ${width} px`).toEqual([]);
      await dashboard.screenshot(`${name}-${width}`);
    }
    expect(await findings(dashboard)).toEqual([]);
    expect((await page.locator('canvas:visible').count()) > 0 || name === 'starting').toBe(true);
  });

  it.each(['light', 'high-contrast'] as const)('%s', async (theme) => {
    const dashboard = await show(runOf('cluster', 5400, 20, 10));
    await dashboard.setTheme(theme);
    await dashboard.page.locator('trainyard-chart').first().getByRole('button', { name: 'Table' }).click();
    expect(await findings(dashboard)).toEqual([]);
    for (const width of [800, 1600]) {
      await dashboard.page.setViewportSize({ width, height: 900 });
      await dashboard.screenshot(`${theme}-${width}`);
    }
  });

  it('says so before the first update, and when the run is gone', async () => {
    const dashboard = await show();
    await expect.poll(() => dashboard.text('#app')).toContain('Connecting to the run…');
    await dashboard.send({ type: 'problem', message: 'The folder /home/me/runs/x is gone.' });
    await dashboard.page.waitForSelector('#app[data-state=problem]');
    await expect.poll(() => dashboard.text('#app')).toContain('The folder /home/me/runs/x is gone.');
    await dashboard.screenshot('problem');
  });
});

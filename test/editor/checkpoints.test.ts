// What a person does with checkpoints in the Checkpoints view: by clicks in the menus of its items.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './hostClient.js';
import { choose, clickMenu } from './questions.js';
import { Workbench } from './workbench.js';

const words = ['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1'];
const flags = ['--steps', '60', '--checkpoint-every', '20'];

let workbench: Workbench;
let dir = '';
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
  await workbench.host.command('trainyard.runTraining', { words: [...words, ...flags], ranks: 1 });
  dir = await finished(1);
  await until('checkpoints', async () =>
    (await workbench.snapshot()).checkpoints.length === 3 ? true : undefined,
  );
});
afterAll(() => workbench.close());

/** The newest of so many runs, once it is over. */
async function finished(count: number): Promise<string> {
  await until(`${count} runs`, () => (workbench.runs().length === count ? true : undefined), 60);
  const run = workbench.runs().at(-1) ?? '';
  await until('its end', () => (workbench.state(run).phase === 'finished' ? true : undefined), 60);
  return run;
}
const row = (step: number): Locator =>
  workbench.page.locator('.sidebar .monaco-list-row', { hasText: `step ${step}` }).first();

test('a new run from a checkpoint, and the way back to where it came from', async () => {
  await clickMenu(workbench, row(40), 'New Run from This Checkpoint…');
  await choose(workbench);
  const made = await finished(2);
  const record = JSON.parse(readFileSync(join(made, 'run.json'), 'utf8')) as { from: unknown };
  expect(record.from).toEqual({ dir, step: 40 });
  const link = workbench.webview().locator('.origin button');
  await link.waitFor();
  await workbench.screenshot('origin', 'dark', 1280);
  await link.click();
  await until('the dashboard of the run before', async () =>
    (await workbench.snapshot()).dashboards.some((each) => each.dir === dir && each.visible)
      ? true
      : undefined,
  );
});

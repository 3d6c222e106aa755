// What a person does with checkpoints in the Checkpoints view: by clicks in the menus of its items.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shortName } from '../../src/core/model/runName.js';
import { trainer } from '../support/harness.js';
import { until } from './support/hostClient.js';
import { answer, choose, clickMenu } from './support/questions.js';
import { Workbench } from './support/workbench.js';

const flags = ['--threads', '1', '--batch-size', '8', '--steps', '60', '--checkpoint-every', '20'];

let workbench: Workbench;
let dir = '';
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
  const images = join(workbench.folder, 'images');
  execFileSync(trainer, ['prep', '--from', 'demo:3x20', '--to', images, '--image-size', '32']);
  const words = ['train', '--model', 'mlp', '--data', join(images, 'train'), ...flags];
  await workbench.host.command('trainyard.runTraining', { words, ranks: 1 });
  dir = await finished(1);
  await workbench.page.locator('.sidebar .monaco-list-row', { hasText: 'latest' }).waitFor();
  // Where rows are still being put in, a click meets the row that has just come there.
  await until('three checkpoints that stay', async () => {
    const before = await workbench.page.locator('.sidebar .monaco-list-row').allInnerTexts();
    await workbench.page.waitForTimeout(1500);
    const steps = before.filter((text) => /step \d/.test(text));
    const after = await workbench.page.locator('.sidebar .monaco-list-row').allInnerTexts();
    return steps.length === 3 && after.length === before.length ? true : undefined;
  });
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
  const form = workbench.webview();
  await form.getByText(/Starts with the weights of mlp-[0-9a-f]{4}, step 40/).waitFor();
  await form
    .getByText(`--init-weights ${join(dir, 'checkpoints/step-00000040/model.safetensors')}`)
    .waitFor();
  await workbench.screenshot('form-origin', 'dark', 1280);
  await form.getByRole('button', { name: 'Start Run' }).press('Enter');
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

test('an evaluation stands on the row then', async () => {
  // The view follows the dashboard in front. Both runs have the same steps.
  const name = dir.split('/').at(-1)?.split('-').slice(2).join('-') ?? '';
  await workbench.page.locator('.pane-header', { hasText: 'Checkpoints' }).getByText(name).waitFor();
  await workbench.page.waitForTimeout(1500);
  await clickMenu(workbench, row(40), 'Evaluate Now');
  const images = join(workbench.folder, 'images/validation');
  const widget = workbench.page.locator('.quick-input-widget:visible');
  await widget.getByText('on which images?').waitFor();
  // The home folder's items still stand there. Enter means the folder that was typed.
  await widget.getByText('evaluate on this folder').waitFor();
  await widget.locator('input').first().fill(`${images}/`);
  await workbench.page.keyboard.press('Enter');
  const toast = workbench.page.locator('.notification-toast', { hasText: /top-1 [\d.]+% of \d+ images/ });
  await toast.waitFor();
  await until('its accuracy on the row', async () =>
    (await workbench.snapshot()).checkpoints.some(
      ({ label, description }) => label === 'step 40' && /^best [\d.]+%/.test(description),
    )
      ? true
      : undefined,
  );
  await workbench.host.command('notifications.clearAll');
});

test('a download into a folder that is chosen', async () => {
  await clickMenu(workbench, row(60), 'Download Checkpoint…');
  await answer(workbench, 'Download step 60', join(workbench.folder, 'workspace'));
  const toast = workbench.page.locator('.notification-toast', { hasText: 'has the SHA-256' });
  await toast.waitFor();
  await workbench.screenshot('download', 'dark', 1280);
  const folder = `${shortName(basename(dir))}-step-00000060`;
  const shown = join(workbench.folder, 'workspace', folder);
  expect(readdirSync(shown)).toContain('model.safetensors');
  await toast.getByRole('button', { name: 'Show Folder' }).click();
  await workbench.page.locator('.notification-toast', { hasText: shown }).first().waitFor();
  await workbench.host.command('notifications.clearAll');
});

test('what the program of a run wrote, by the menu of the run', async () => {
  const { page } = workbench;
  const run = shortName(basename(dir));
  const outputs = join(dir, 'code/outputs'); // where a program with code writes
  mkdirSync(outputs, { recursive: true });
  await workbench.writeFile(join(outputs, 'words.txt'), 'written there\n');
  const runRow = page.locator('.sidebar .monaco-list-row', { hasText: new RegExp(`${run}.*finished`) });
  const to = join(workbench.folder, 'workspace');
  const bring = async (path: string): Promise<void> => {
    await clickMenu(workbench, runRow.first(), 'Download Files of Run…');
    await answer(workbench, `Download Files of ${run}`, path);
    await answer(workbench, `Download ${path} of ${run}`, to);
  };
  const toast = (words: string): Locator => page.locator('.notification-toast', { hasText: words }).first();
  await bring('outputs/model.pt');
  await toast(`there is no outputs/model.pt in ${dir}. code/outputs has words.txt`).waitFor();
  await workbench.host.command('notifications.clearAll');
  await bring('outputs');
  await toast(`${join(to, 'outputs')} (1 file, 14 B): every file has the SHA-256`).waitFor();
  await workbench.screenshot('download-files', 'dark', 1280);
  expect(readFileSync(join(to, 'outputs/words.txt'), 'utf8')).toBe('written there\n');
  await workbench.host.command('notifications.clearAll');
});

test('pictures of this machine: what the checkpoint takes them for, and the same ones again', async () => {
  const { page } = workbench;
  const [label = ''] = readdirSync(join(workbench.folder, 'images/validation')).sort();
  const [name = ''] = readdirSync(join(workbench.folder, 'images/validation', label));
  const picture = join(workbench.folder, 'workspace/one.jpg');
  copyFileSync(join(workbench.folder, 'images/validation', label, name), picture);
  await clickMenu(workbench, row(60), 'Predict on Pictures…');
  const place = page.locator('.quick-input-widget:visible', { hasText: 'Predict with step 60' });
  await expect
    .poll(() => place.locator('input').first().inputValue())
    .toBe(`${join(workbench.folder, 'workspace')}/`);
  await answer(workbench, 'Predict with step 60', picture);
  const shown = workbench.webview();
  await shown.getByRole('heading', { name: 'Predictions of step 60' }).waitFor();
  await shown.getByRole('heading', { name: 'one.jpg' }).waitFor();
  const lines = await shown.locator('.pictures ol li').allInnerTexts();
  expect(lines).toHaveLength(3); // of three classes
  expect(lines.join(' ')).toMatch(/\d+\.\d%/);
  await until('the picture itself', async () =>
    Number(await shown.locator('img').evaluate((image) => Reflect.get(image, 'naturalWidth') as unknown)) > 0
      ? true
      : undefined,
  );
  await workbench.screenshot('predictions', 'dark', 1280);
  await workbench.host.command('workbench.action.closeAllEditors');
  await clickMenu(workbench, row(60), 'Predict on Pictures…');
  await page.locator('.quick-input-widget:visible').getByText('The picture of last time').waitFor();
  await choose(workbench);
  await shown.getByRole('heading', { name: 'one.jpg' }).waitFor();
  await workbench.host.command('workbench.action.closeAllEditors');
  rmSync(picture);
  await clickMenu(workbench, row(60), 'Predict on Pictures…');
  await page.locator('.quick-input-widget:visible').getByText('Predict with step 60').waitFor(); // it is gone
  await page.keyboard.press('Escape');
});

test('its folder is shown, and one is deleted after a question that says what is lost', async () => {
  await clickMenu(workbench, row(40), 'Reveal Checkpoint');
  const folder = join(dir, 'checkpoints/step-00000040');
  await workbench.page.locator('.notification-toast', { hasText: folder }).first().waitFor();
  await clickMenu(workbench, row(40), 'Delete Checkpoint…');
  const dialog = workbench.page.locator('.monaco-dialog-box', { hasText: 'This cannot be undone.' });
  await dialog.getByText('the checkpoint of step 40').first().waitFor();
  await workbench.screenshot('delete-checkpoint', 'dark', 1280);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await until('two checkpoints', async () =>
    (await workbench.snapshot()).checkpoints.length === 2 ? true : undefined,
  );
  expect(readdirSync(join(dir, 'checkpoints')).sort()).toEqual(['step-00000020', 'step-00000060']);
});

// The page of the run form in a real browser: filled in by keyboard alone, judged by the core's own
// code, with the extension's part played by the test.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findings } from './findings.js';
import { artifacts, command, hpc, openForm, tooWide, weights } from './formHarness.js';
import { openBrowser } from './harness.js';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

test('it is filled in by keyboard alone, and shows the command line that does the same', async () => {
  const { page, extension, complaints } = await openForm(browser);
  expect(await command(page)).toBe(
    'trainyard run lab -- train --model resnet20 --data ~/images/train'.replace(
      '~/images/train',
      "'~/images/train'",
    ),
  );
  const { keyboard } = page;
  await page.getByLabel('Fill in from').focus();
  await keyboard.press('Tab'); // the trainer, which is chosen
  await keyboard.press('Tab');
  await keyboard.type('resnet50');
  await keyboard.press('Tab');
  await keyboard.press('Tab'); // Browse
  await keyboard.press('Enter');
  await page.getByRole('listbox', { name: 'Folders in ~/images/' }).waitFor();
  await keyboard.press('ArrowLeft');
  const home = page.getByRole('listbox', { name: 'Folders in ~/' });
  await home.getByRole('option', { name: 'images' }).waitFor();
  const names = (await home.getByRole('option').allInnerTexts()).map((name) => name.trim());
  expect(names).toEqual(['images', 'papers']);
  await keyboard.press('Enter');
  await page.getByRole('listbox', { name: 'Folders in ~/images/' }).waitFor();
  await keyboard.press('Tab'); // Train on This Folder
  await keyboard.press('Enter');
  await expect.poll(() => page.getByLabel('Validation images').inputValue()).toBe('~/images/validation');
  await page.getByLabel('Ranks').focus();
  await keyboard.type('4');
  await page.getByLabel('Epochs').focus();
  await keyboard.type('30');
  await page.getByLabel('Further flags').focus();
  await keyboard.type('--se');
  await page.getByRole('option', { name: /--seed/ }).waitFor();
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await keyboard.type('7');
  await page.getByLabel('Name', { exact: true }).focus();
  await keyboard.type('larger batch');
  await keyboard.press('Tab');
  await keyboard.type('baseline, lr 0.1');
  await keyboard.press('Tab');
  await keyboard.type("it's a try");
  const line =
    "trainyard run lab --ranks 4 --name 'larger batch' --tag baseline --tag 'lr 0.1' --notes 'it'\\''s a try' -- " +
    "train --model resnet50 --data '~/images/train' --eval-data '~/images/validation' --epochs 30 --seed 7";
  await expect.poll(() => command(page)).toBe(line);
  await keyboard.press('Control+Enter');
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'start' });
  await page.getByRole('button', { name: 'Copy' }).press('Enter');
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'copy' });
  expect(complaints).toEqual([]);
  await page.close();
});

test('what is wrong stands at its field, and a start goes there', async () => {
  const { page } = await openForm(browser);
  const flag = page.getByLabel('Further flags');
  await flag.fill('--sed 3');
  await page.getByText('the trainer has no flag --sed. Did you mean --seed?').waitFor();
  expect(await flag.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Command line').count()).toBe(0);
  await flag.fill('');
  await page.getByLabel('A program of your own').press('Space');
  await page.getByLabel('Command', { exact: true }).waitFor();
  expect(await page.getByText('there is nothing to run').count()).toBe(0); // not before somebody starts
  await page.getByRole('button', { name: 'Start Run' }).press('Enter');
  await page.getByText('there is nothing to run').waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('command');
  await page.keyboard.type('python train.py');
  await page.getByLabel('One for each node').press('Space');
  await expect.poll(() => command(page)).toBe('trainyard run lab --per-node -- python train.py');
  await page.getByLabel('Counts as hung after').fill('10m');
  await page.getByLabel('Checkpoints folder').fill('/scratch');
  await page
    .getByText('the folder for the nodes must be relative to the run\'s folder, not "/scratch"')
    .waitFor();
  await page.getByLabel('Checkpoints folder').fill('checkpoints');
  await page.getByLabel('Python packages').fill('requirements.txt');
  const own =
    '--per-node --silence-timeout 10m --share checkpoints --requirements requirements.txt -- python train.py';
  await expect.poll(() => command(page)).toBe(`trainyard run lab ${own}`);
  expect(await findings({ page })).toEqual([]);
  await page.screenshot({ path: join(artifacts, 'form-program.png') });
  await page.close();
});

test('what does not fit is marked at its field and told once more, also at the foot', async () => {
  const { page, extension } = await openForm(browser, { width: 600 });
  const text = 'gpu1 has 4 GPUs, and 9 were asked for. Ask for 4 or fewer.';
  extension.place = { text, title: 'Does not fit now', problems: { gpus: text } };
  const gpus = page.getByLabel('GPUs of each node');
  await gpus.fill('9');
  await expect.poll(() => gpus.getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('.field:has(#gpus) .problem').innerText()).toBe(text);
  await page.getByText('One field is to be corrected.').waitFor();
  const verdict = page.locator('.verdict');
  expect(await verdict.getAttribute('data-text')).toBe(`Does not fit now: ${text}`);
  await page.getByRole('button', { name: 'Start Run' }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('gpus');
  expect(await page.getByText(text).count()).toBe(2);
  const box = await verdict.boundingBox();
  expect(box && box.y > 0 && box.y < 900).toBe(true);
  expect(await findings({ page })).toEqual([]);
  await page.screenshot({ path: join(artifacts, 'form-misfit-600.png') });
  await page.setViewportSize({ width: 1280, height: 900 });
  expect(await verdict.isVisible()).toBe(false);
  const [source, header] = [page.locator('header .field'), page.locator('header')];
  expect((await source.boundingBox())!.width).toBeLessThan((await header.boundingBox())!.width / 3);
  await page.getByLabel('Epochs').fill('abc');
  await page.getByText('Must be a whole number from 0 to 1000000, not "abc".').waitFor();
  await page.screenshot({ path: join(artifacts, 'form-misfit-1280.png') });
  await page.close();
});

test('a folder that no node has is red, and is uploaded from here', async () => {
  const { page, extension, complaints } = await openForm(browser, { width: 800 });
  const data = page.getByLabel('Training images');
  const held = page.getByText('3 classes, 300 images. Each epoch leaves out 76 of them: a step takes 224.');
  await held.waitFor();
  await page.getByText('Would start now').waitFor();
  await data.fill('~/mydata3');
  await page.getByText('gpu1 has no ~/mydata3', { exact: true }).waitFor();
  expect(await data.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByText('Would start now:').count()).toBe(0);
  expect(await held.count()).toBe(0);
  await page.getByText('Would not start now: gpu1 has no ~/mydata3.').waitFor();
  await page.getByLabel('Notes').scrollIntoViewIfNeeded();
  await page.getByRole('button', { name: 'Start Run' }).click();
  await page.getByText('Nothing was started: correct what is marked.').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('data');
  const box = await data.boundingBox();
  expect(box && box.y > 0 && box.y < 860).toBe(true);
  expect(await findings({ page })).toEqual([]);
  await page.screenshot({ path: join(artifacts, 'form-lacks-dark-800.png') });
  for (const width of [300, 400]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await tooWide(page)).toEqual([]);
  }
  await page.getByRole('button', { name: 'Upload from Here…' }).press('Enter');
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'upload' });
  await page.getByText('gpu1 has no').first().waitFor({ state: 'detached' });
  await page.getByText('Would start now:').waitFor();
  expect(await data.inputValue()).toBe('~/mydata3');
  expect(complaints).toEqual([]);
  await page.close();
});

test('a folder with nothing in it is not offered to train on', async () => {
  const { page } = await openForm(browser, { values: { data: '~/images/train/x' } });
  await page.getByRole('button', { name: 'Browse' }).click();
  await page.getByText('0 folders, 0 other files').waitFor();
  expect(await page.getByRole('button', { name: 'Train on This Folder' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Training images').fill('~/images/x');
  await page.getByRole('button', { name: 'Browse' }).click();
  await page.getByRole('button', { name: 'Train on This Folder' }).waitFor();
  await page.close();
});

test('where checkpoints are evaluated is asked once there are images for it', async () => {
  const { page } = await openForm(browser);
  const where = page.getByLabel('Evaluated on');
  await page.getByLabel('Epochs').waitFor();
  expect(await where.count()).toBe(0);
  await page.getByLabel('Validation images').fill('/data/validation');
  await where.selectOption('ranks');
  await expect.poll(() => command(page)).toContain('--eval-data /data/validation --eval-on ranks');
  await page.getByLabel('Validation images').fill('');
  await expect.poll(() => command(page)).not.toContain('--eval-on');
  expect(await where.count()).toBe(0);
  await page.close();
});

test('without validation images one button takes what is there, or holds a part out', async () => {
  const { page, extension } = await openForm(browser);
  const missing = page.getByText('Not validated');
  await page.getByText('there are images for it: ~/images/validation').waitFor();
  await page.getByRole('button', { name: 'Validate on These' }).click();
  await expect.poll(() => page.getByLabel('Validation images').inputValue()).toBe('~/images/validation');
  await missing.waitFor({ state: 'detached' });
  await page.getByLabel('Validation images').fill('');
  await page.getByLabel('Training images').fill('synthetic');
  await missing.waitFor({ state: 'detached' });
  await page.getByLabel('Training images').fill('~/papers');
  await page.getByText('a fifth of each class validates').waitFor();
  expect(await findings({ page })).toEqual([]);
  await page.screenshot({ path: join(artifacts, 'form-hold-out-dark-1280.png') });
  await page.getByRole('button', { name: 'Hold Out 20% for Validation' }).click();
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'holdOut' });
  expect(await page.getByRole('button', { name: 'Holding out…' }).isDisabled()).toBe(true);
  await page.close();
});

test('where no button can hold a part out, a command that works as it stands is copied', async () => {
  const { page, extension } = await openForm(browser, { width: 400 });
  extension.holdOut = 'no';
  await page.getByLabel('Training images').fill('~/papers');
  const line = page.getByLabel('Command that holds out a part');
  await expect
    .poll(() => line.innerText())
    .toBe(
      "trainyard run lab --ranks 1 -- prep --from '~/papers' --to '~/papers-shards' --shards 1 --validation 0.2",
    );
  await page.getByRole('button', { name: 'Copy Command' }).press('Enter');
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'copyHoldOut' });
  expect(await findings({ page })).toEqual([]);
  expect(await tooWide(page)).toEqual([]);
  await page.screenshot({ path: join(artifacts, 'form-hold-out-command-dark-400.png'), fullPage: true });
  await page.close();
});

test.each([400, 800, 1280])('Start Run stays where it is while somebody types, %s', async (width) => {
  const { page } = await openForm(browser, { width });
  const start = page.getByRole('button', { name: 'Start Run' });
  const place = async (): Promise<number> => (await start.boundingBox())?.y ?? NaN;
  await page.getByLabel('Name', { exact: true }).focus(); // which scrolls
  const before = await place();
  await page.keyboard.type('a name so long that the command line needs some more lines than it had');
  await expect.poll(() => command(page)).toContain('than it had');
  expect(Math.abs((await place()) - before)).toBeLessThan(1);
  await page.getByLabel('Further flags').focus();
  await page.keyboard.type('--nothing');
  await page.getByText('One field is to be corrected.').waitFor();
  expect(Math.abs((await place()) - before)).toBeLessThan(1);
  await page.screenshot({ path: join(artifacts, `form-start-dark-${width}.png`) });
  await page.close();
});

test('the list of profiles can be added to, and goes on showing the chosen one', async () => {
  const { page, extension } = await openForm(browser);
  const profile = page.getByLabel('Profile', { exact: true });
  await profile.selectOption({ label: 'Add a cluster…' });
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'addCluster' });
  await expect.poll(() => profile.inputValue()).toBe('lab');
  expect(extension.values.profile).toBe('lab');
  await page.close();
});

test('what is typed after a start keeps the focus', async () => {
  const { page } = await openForm(browser);
  await page.getByRole('button', { name: 'Start Run' }).press('Enter');
  await page.getByLabel('Ranks').focus();
  await page.getByLabel('Ranks').fill('many');
  await page.getByText('the number of ranks').waitFor();
  await page.getByLabel('Name', { exact: true }).focus();
  await page.keyboard.type('larger');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('name');
  await page.close();
});

test('presets: one to fill in from, one saved, and the line that is wrong', async () => {
  for (const theme of ['dark', 'light'] as const) {
    const { page, extension } = await openForm(browser, { theme, width: 800 });
    await page.getByLabel('Fill in from').selectOption({ label: 'night: train --model resnet50' });
    await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'load', source: 'preset night' });
    await page.getByLabel('Stage').fill('/shared/a:/scratch/a');
    await expect.poll(() => command(page)).toContain('trainyard run lab --stage /shared/a:/scratch/a --');
    expect(await page.getByRole('button', { name: 'Show Batch Script' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Save as Preset…' }).click();
    await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'savePreset' });
    extension.presetProblem = '/w/.vscode/trainyard.json:4: presets[0]: Unrecognized key: "rank".';
    await page.getByLabel('Stage').fill('/shared/a');
    await page.getByText('/shared/a does not name two folders').waitFor();
    await page.getByRole('alert').getByText('Unrecognized key: "rank"').waitFor();
    expect(await findings({ page })).toEqual([]);
    await page.getByRole('button', { name: 'Open the line' }).click();
    await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'openPresets' });
    for (const width of [300, 800, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(artifacts, `form-presets-${theme}-${width}.png`) });
    }
    await page.close();
  }
});

test('what a run asks of Slurm and may cost, in place of its profile', async () => {
  const { page, extension, complaints } = await openForm(browser, {
    profile: hpc,
    values: { profile: 'hpc' },
  });
  expect(await page.getByLabel('Nodes', { exact: true }).getAttribute('placeholder')).toBe('1');
  await page.getByLabel('Nodes', { exact: true }).fill('2');
  await page.getByLabel('Partition').selectOption('long');
  await page.getByLabel('Time limit').fill('soon');
  await page.getByText('"soon" is no time limit of Slurm').waitFor();
  expect(await page.getByLabel('Time limit').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Time limit').fill('2-0');
  await page.getByLabel('Stops after').fill('2 days');
  await page.getByText('the time limit must be from 1s to 365d, not "2 days"').waitFor();
  await page.getByLabel('Stops after').fill('36h');
  await page.getByLabel('Goes on later').selectOption('no');
  await page.getByLabel('Budget in EUR').fill('40');
  await page.getByLabel('Once it is spent').selectOption('say so, and go on');
  await page.getByText('Would ask Slurm for: 2 nodes of long, for at most 2-0.').waitFor();
  await expect
    .poll(() => command(page))
    .toContain(
      'trainyard run hpc --nodes 2 --budget 40 --no-budget-stop --time-limit 36h --slurm partition=long --slurm time=2-0 --slurm requeue=false --',
    );
  await page.getByLabel('Partition').selectOption({ index: 0 });
  await expect.poll(() => command(page)).not.toContain('partition');
  expect(await page.getByLabel('Stage').count()).toBe(1); // the job stages before it trains
  await page.getByRole('button', { name: 'Show Batch Script' }).click();
  await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'showScript' });
  await page.screenshot({ path: join(artifacts, 'form-slurm-dark-1280.png'), fullPage: true });
  expect(complaints).toEqual([]);
  await page.close();
});

test('the checkpoint that it starts from is a line, and goes at one key', async () => {
  const { page, extension } = await openForm(browser, { values: { weights } });
  await page.getByText('Starts with the weights of birds-1f2e, step 12,000').waitFor();
  expect(await command(page)).toContain(`--init-weights ${weights}`);
  await page.getByRole('button', { name: 'Remove: start with new weights' }).press('Enter');
  await expect.poll(() => command(page)).not.toContain('--init-weights');
  expect(await page.getByText('Starts with').count()).toBe(0);
  expect(extension.values.weights).toBe('');
  await page.close();
});

/** Every width in one theme and every theme at one width: colours do not depend on the width. */
const looks = [
  ['dark', [400, 800, 1280]],
  ['light', [1280]],
  ['high-contrast', [400]],
  ['high-contrast-light', [800]],
] as const;

test.each(looks)('axe finds nothing with Slurm, a price and a checkpoint, %s', async (theme, widths) => {
  for (const width of widths) {
    const { page } = await openForm(browser, {
      theme,
      width,
      profile: hpc,
      values: { profile: 'hpc', weights },
    });
    expect(await findings({ page })).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.screenshot({ path: join(artifacts, `form-slurm-${theme}-${width}.png`), fullPage: true });
    await page.close();
  }
});

test.each(looks)('axe finds nothing, %s', async (theme, widths) => {
  for (const width of widths) {
    const { page } = await openForm(browser, { theme, width });
    await page.getByLabel('Nodes').fill('9');
    await page.getByText('profile lab has 2 nodes, not 9').waitFor();
    await page.getByRole('button', { name: 'Browse' }).click();
    await page.getByRole('option', { name: 'train', exact: true }).waitFor();
    expect(await findings({ page })).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByLabel('Nodes').fill('');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('Command line').waitFor();
    await page.screenshot({ path: join(artifacts, `form-${theme}-${width}.png`), fullPage: true });
    await page.close();
  }
});

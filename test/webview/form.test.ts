// The page of the run form in a real browser: filled in by keyboard alone, judged by the core's own
// code, with the extension's part played by the test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { commandLineOf } from '../../src/core/plan/commandLine.js';
import { askedRun, emptyForm, type RunFormValues } from '../../src/core/plan/runForm.js';
import { checkForm } from '../../src/core/plan/runFormCheck.js';
import { offeredFlags } from '../../src/core/plan/trainerHelp.js';
import { flagSuggestions, modelChoices, optionsOf, problemsText } from '../../src/ui/form/formView.js';
import { formPage } from '../../src/ui/form/formPage.js';
import type { FormFolder, FormView, FromForm } from '../../src/webview/formProtocol.js';
import { findings } from './findings.js';
import { openBrowser } from './harness.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

const artifacts = join(import.meta.dirname, '../artifacts');
const origin = 'http://form.test';
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

const flags = offeredFlags(
  'train',
  `train a network
  --model TEXT=resnet20       mlp (32 px), resnet20 (32 px), resnet50 (224 px)
  --data TEXT                 a folder
  --eval-data TEXT            a folder
  --epochs INT:0..1000000=10  passes over the data
  --batch-size INT:1..65536=32
                              images per replica and micro-batch
  --lr FLOAT:>0..1000         peak learning rate (left out: 0.1 for sgd)
  --optimizer TEXT:{sgd,lars,adam}=sgd
                              how gradients change weights
  --precision TEXT:{fp32,bf16}=fp32
                              of the arithmetic
  --device TEXT:{cpu,cuda}=cpu
                              where to compute
  --seed INT:0..100=1         the same seed gives the same weights
  --warmup-epochs FLOAT:0..1000=0
                              linear warm-up
`,
);
const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] };
const tree: Record<string, string[]> = {
  '~/': ['.cache', 'images', 'papers'],
  '~/images/': ['train', 'validation'],
};

/** The extension's part; its figures of GPUs are made up. */
class Extension {
  values: RunFormValues = { ...emptyForm('lab'), data: '~/images/train' };
  readonly posted: FromForm[] = [];
  private sequence = 0;
  private tried = false;
  private folder: FormFolder | null = null;
  private said = '';
  presetProblem = '';

  constructor(private readonly page: Page) {}

  async receive(message: FromForm): Promise<void> {
    this.posted.push(message);
    if (message.type === 'change') {
      this.values = message.values;
      this.sequence = message.sequence;
    }
    if (message.type === 'look') this.folder = this.listed(message.path);
    if (message.type === 'take') {
      this.folder = null;
      this.values = { ...this.values, data: `${message.path}train`, evalData: `${message.path}validation` };
      await this.send({ type: 'values', values: this.values });
    }
    if (message.type === 'start') {
      this.tried = true;
      this.said = this.view().command === '' ? 'Nothing was started: correct what is marked.' : '';
    }
    if (message.type === 'ready') await this.send({ type: 'values', values: this.values });
    await this.send({ type: 'view', sequence: this.sequence, view: this.view() });
  }

  view(): FormView {
    const checked = checkForm(this.values, lab, { flags, cwd: '/' });
    const fits = checked.problems.length === 0;
    const gpu = (index: number, by?: string): FormView['nodes'][number]['gpus'][number] => ({
      index,
      name: 'H100 80GB',
      free: by === undefined,
      text: by === undefined ? 'free, 79.6 GB' : `taken by ${by}`,
    });
    return {
      profiles: [
        { value: 'lab', label: 'lab · ssh, 2 nodes', group: '' },
        { value: 'local', label: 'local · this machine', group: '' },
      ],
      sources: [
        { value: 'preset night', label: 'night: train --model resnet50', group: 'Presets of this workspace' },
        { value: 'recent 0', label: 'lab: train --model resnet50', group: 'Started here lately' },
      ],
      presetProblem: this.presetProblem,
      keepsPresets: true,
      models: modelChoices(flags, this.values.model),
      options: optionsOf(flags),
      isHere: false,
      connection: 'connected',
      connectionText: '',
      nodeCount: 2,
      nodes: [
        {
          host: 'gpu1',
          text: '64 cores at 12%, 412 GB of memory free',
          gpus: [gpu(0), gpu(1), gpu(2), gpu(3, 'birds (pid 4121)')],
        },
        {
          host: 'gpu2',
          text: '64 cores at 3%, 470 GB of memory free',
          gpus: [gpu(0), gpu(1), gpu(2), gpu(3)],
        },
      ],
      placeText: fits ? '7 ranks: 3 on gpu1 (GPU 0, 1, 2), 4 on gpu2 (GPU 0, 1, 2, 3).' : '',
      placeFits: true,
      problems: problemsText(checked.problems, this.tried),
      command: fits ? commandLineOf(askedRun(this.values, false)) : '',
      suggestions: flagSuggestions(this.values.flags, flags),
      folder: this.folder,
      starting: false,
      said: this.said,
      saidIsError: this.said !== '',
    };
  }

  private listed(path: string): FormFolder | null {
    const folders = tree[path];
    if (path === '') return null;
    return folders ? { path, folders, others: 2 } : { path, folders: [], problem: 'there is no such folder' };
  }

  private send(message: object): Promise<void> {
    return this.page.evaluate((data) => {
      window.postMessage(data);
    }, message);
  }
}

async function open({ width = 1280, theme = 'dark' }: { width?: number; theme?: Theme } = {}): Promise<{
  page: Page;
  extension: Extension;
  complaints: string[];
}> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const extension = new Extension(page);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const text = formPage({ source: origin, nonce: 'test', style: 'form.css', script: 'form.js' })
    .replace('<html lang="en">', `<html lang="en" style='${themeStyle(theme)}'>`)
    .replace('<body>', `<body class="${bodyClass(theme)}">`);
  const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', ttf: 'font/ttf' };
  await page.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: text });
    if (!/^\/(form\.css|form\.js|codicon\.ttf)$/.test(pathname)) return route.fulfill({ status: 204 });
    const contentType = types[pathname.split('.').at(-1) ?? ''] ?? 'text/plain';
    return route.fulfill({ contentType, body: readFileSync(join(artifacts, 'webview', pathname)) });
  });
  await page.exposeFunction('postToTest', (message: FromForm) => extension.receive(message));
  await page.addInitScript(() => {
    const scope = window as unknown as Record<string, (message: unknown) => unknown>;
    scope['acquireVsCodeApi'] = () => ({
      postMessage: (message: unknown) => scope['postToTest']?.(message),
    });
  });
  await page.goto(`${origin}/`);
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  return { page, extension, complaints };
}

const command = (page: Page): Promise<string> => page.getByLabel('Command line').innerText();

test('it is filled in by keyboard alone, and shows the command line that does the same', async () => {
  const { page, extension, complaints } = await open();
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
  const { page } = await open();
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
  await page.close();
});

test('presets: one to fill in from, one saved, and the line that is wrong', async () => {
  for (const theme of ['dark', 'light'] as const) {
    const { page, extension } = await open({ theme, width: 800 });
    await page.getByLabel('Fill in from').selectOption({ label: 'night: train --model resnet50' });
    await expect.poll(() => extension.posted.at(-1)).toEqual({ type: 'load', source: 'preset night' });
    await page.getByLabel('Stage').fill('/shared/a:/scratch/a');
    await expect.poll(() => command(page)).toContain('trainyard run lab --stage /shared/a:/scratch/a --');
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

test.each(['dark', 'light', 'high-contrast', 'high-contrast-light'] as const)(
  'axe finds nothing, %s',
  async (theme) => {
    for (const width of [400, 800, 1280]) {
      const { page } = await open({ theme, width });
      await page.getByLabel('Nodes').fill('9');
      await page.getByText('profile lab has 2 nodes, not 9').waitFor();
      await page.getByRole('button', { name: 'Browse' }).click();
      await page.getByRole('option', { name: 'train', exact: true }).waitFor();
      expect(await findings({ page })).toEqual([]);
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('main *')]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map((element) => `${element.tagName} ${element.id} ${element.className}`),
      );
      expect(wide).toEqual([]);
      await page.getByLabel('Nodes').fill('');
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByLabel('Command line').waitFor();
      if (theme === 'dark' || width === 1280) {
        await page.screenshot({ path: join(artifacts, `form-${theme}-${width}.png`), fullPage: true });
      }
      await page.close();
    }
  },
);

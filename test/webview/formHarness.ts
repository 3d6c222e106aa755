// The page of the run form in a real browser, judged by the core's own code. The extension's part
// is played here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { contentText, dataOfForm, lackOf } from '../../src/core/cluster/formData.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { commandLineOf } from '../../src/core/plan/request/commandLine.js';
import { askedRun, emptyForm, type RunFormValues } from '../../src/core/plan/form/runForm.js';
import { checkForm } from '../../src/core/plan/form/runFormCheck.js';
import { offeredFlags } from '../../src/core/plan/request/trainerHelp.js';
import { slurmFields } from '../../src/ui/form/formSlurm.js';
import {
  budgetOf,
  flagSuggestions,
  modelChoices,
  optionsOf,
  originText,
  placeText,
  problemsText,
  usualNodes,
  waitingText,
  type RunPlace,
} from '../../src/ui/form/formView.js';
import { holdOutCommand, validationOf } from '../../src/ui/form/formValidation.js';
import { formPage } from '../../src/ui/form/formPage.js';
import type { FormFolder, FormView, FromForm } from '../../src/webview/formProtocol.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

export const artifacts = join(import.meta.dirname, '../artifacts');
const origin = 'http://form.test';
const flags = offeredFlags(
  'train',
  `train a network
  --model TEXT=resnet20       mlp (32 px), resnet20 (32 px), resnet50 (224 px)
  --data TEXT                 a folder
  --eval-data TEXT            a folder
  --eval-on TEXT:{head,ranks}=head
                              what evaluates
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
  --init-weights TEXT         a file
  --seed INT:0..100=1         the same seed gives the same weights
  --warmup-epochs FLOAT:0..1000=0
                              linear warm-up
`,
);
const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] };
export const hpc: Profile = {
  name: 'hpc',
  kind: 'slurm',
  hosts: [{ host: 'login' }],
  slurm: { partition: 'gpu', time: '8:00:00', nodes: 1, requeue: true },
  pricePerNodeHour: 12,
  currency: 'EUR',
  budgetStop: true,
};
const partitions = ['gpu', 'long'].map((name) => ({
  ...{ name, isDefault: name === 'gpu', isUp: true, timeLimit: 86_400, nodes: 8, idleNodes: 3 },
  ...{ cpus: { idle: 64, total: 512 }, gpus: [{ type: 'a100', total: 32, free: 12 }] },
  ...{ gpusPerNode: 4, memoryPerNode: 512_000 },
}));
export const weights =
  '/home/ada/.trainyard/runs/20261121-104500-birds-1f2e/checkpoints/step-00012000/model.safetensors';
const folders = (): Record<string, string[]> => ({
  '~/': ['.cache', 'images', 'papers'],
  '~/images/': ['train', 'validation'],
  '~/images/train/': [],
});

/** The extension's part; its figures of GPUs are made up. */
export class Extension {
  values: RunFormValues = { ...emptyForm('lab'), data: '~/images/train' };
  readonly posted: FromForm[] = [];
  private readonly tree = folders();
  private sequence = 0;
  private tried = false;
  private folder: FormFolder | null = null;
  private said = '';
  /** As of a machine on which nothing can be held out by a button. */
  holdOut: 'no' | 'can' | 'busy' = 'can';
  presetProblem = '';
  /** In place of where the run would go. */
  place: RunPlace | undefined;

  constructor(
    private readonly page: Page,
    private readonly profile: Profile,
  ) {}

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
    if (message.type === 'takeHalves') {
      this.values = { ...this.values, evalData: '~/images/validation' };
      await this.send({ type: 'values', values: this.values });
    }
    if (message.type === 'holdOut') this.holdOut = 'busy';
    if (message.type === 'upload') {
      this.tree['~/']?.push('mydata3');
      this.values = { ...this.values, data: '~/mydata3', evalData: '' };
      await this.send({ type: 'values', values: this.values });
    }
    if (message.type === 'start') {
      this.tried = true;
      const { command, problems } = await this.view();
      const isWrong = command === '' || Object.keys(problems).length > 0;
      this.said = this.place?.text ?? (isWrong ? 'Nothing was started: correct what is marked.' : '');
    }
    if (message.type === 'ready') await this.send({ type: 'values', values: this.values });
    await this.send({ type: 'view', sequence: this.sequence, view: await this.view() });
  }

  async view(): Promise<FormView> {
    const checked = checkForm(this.values, this.profile, { flags, cwd: '/' });
    const fits = checked.problems.length === 0;
    const lacks = this.lacks();
    const [lack] = Object.values(lacks);
    const made = {
      text: '7 ranks: 3 on gpu1 (GPU 0, 1, 2), 4 on gpu2 (GPU 0, 1, 2, 3).',
      title: 'Would start now',
    };
    const ofSlurm = this.profile.kind === 'slurm' && 'request' in checked;
    const place: RunPlace | undefined =
      lack !== undefined
        ? waitingText(lack)
        : ofSlurm
          ? await placeText(checked.request, [])
          : fits
            ? (this.place ?? made)
            : undefined;
    const gpu = (index: number, by?: string): FormView['nodes'][number]['gpus'][number] => ({
      index,
      name: 'H100 80GB',
      free: by === undefined,
      text: by === undefined ? 'free, 79.6 GB' : `taken by ${by}`,
    });
    return {
      profiles: [
        { value: 'lab', label: 'lab · ssh, 2 nodes', group: '' },
        { value: 'hpc', label: 'hpc · slurm', group: '' },
        { value: 'local', label: 'local · this machine', group: '' },
      ],
      sources: [
        { value: 'preset night', label: 'night: train --model resnet50', group: 'Presets of this workspace' },
        { value: 'recent 0', label: 'lab: train --model resnet50', group: 'Started here lately' },
      ],
      presetProblem: this.presetProblem,
      keepsPresets: true,
      models: modelChoices(flags, this.values.model),
      options: optionsOf(flags, this.values),
      isHere: false,
      connection: 'connected',
      connectionText: '',
      usualNodes: usualNodes(this.profile),
      budget: budgetOf(this.profile),
      slurm: slurmFields(this.profile, this.values, partitions),
      origin: originText(this.values.weights, this.profile.name, []),
      nodes:
        this.profile.kind === 'slurm'
          ? []
          : [
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
      placeText: place?.text ?? '',
      placeTitle: place?.title ?? '',
      problems: { ...place?.problems, ...lacks, ...problemsText(checked.problems, this.tried) },
      command: fits ? commandLineOf(askedRun(this.values, this.profile)) : '',
      suggestions: flagSuggestions(this.values.flags, flags),
      folder: this.folder,
      dataText: fits && lack === undefined ? contentText({ classes: 3, images: 300 }, 224) : '',
      validation: validationOf(this.values, lack, {
        found: this.values.data === '~/images/train' ? '~/images/validation' : '',
        holdOut: this.holdOut,
        command: holdOutCommand(this.values, 300),
      }),
      starting: false,
      said: this.said,
      saidIsError: this.said !== '',
    };
  }

  /** As nodes with these folders say it. */
  private lacks(): Record<string, string> {
    const wrong = dataOfForm(this.values, this.profile, '/').map(({ name, path }) => {
      const at = path.lastIndexOf('/') + 1;
      const isThere = this.tree[path.slice(0, at)]?.includes(path.slice(at)) === true;
      const what = isThere ? 'folder' : 'missing';
      const found = ['gpu1', 'gpu2'].map((host) => ({ host, what }));
      const lack = lackOf({ name, path, found }, path, this.values);
      return [name === 'data' ? 'data' : 'evalData', lack] as const;
    });
    return Object.fromEntries(wrong.flatMap(([field, lack]) => (lack === undefined ? [] : [[field, lack]])));
  }

  private listed(path: string): FormFolder | null {
    const folders = this.tree[path];
    if (path === '') return null;
    return folders
      ? { path, folders, others: folders.length }
      : { path, folders: [], problem: 'there is no such folder' };
  }

  private send(message: object): Promise<void> {
    return this.page.evaluate((data) => {
      window.postMessage(data);
    }, message);
  }
}

export interface Opening {
  width?: number;
  theme?: Theme;
  profile?: Profile;
  values?: Partial<RunFormValues>;
}

/** The page in a window of its own; the caller closes it. */
export async function openForm(
  browser: Browser,
  { width = 1280, theme = 'dark', profile = lab, values = {} }: Opening = {},
): Promise<{
  page: Page;
  extension: Extension;
  complaints: string[];
}> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const extension = new Extension(page, profile);
  extension.values = { ...extension.values, ...values };
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

/** What stands out of the window. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map((element) => `${element.tagName} ${element.id} ${element.className}`),
  );

export const command = (page: Page): Promise<string> => page.getByLabel('Command line').innerText();

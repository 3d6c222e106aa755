// A run over SSH in every state that a person must notice: what header, row, status bar and
// notification say of it, and how soon after the supervisor wrote it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PracticeCluster } from '../../scripts/practice/practice.mjs';
import { endAllOf } from '../cluster/support/hosts.js';
import { linesOf, stateOf, untilEvent, untilStep } from '../cluster/support/runs.js';
import { trainer, until, type Line } from '../support/harness.js';
import { addProfile, startNodes, trustNodes } from './support/practice.js';
import { Workbench } from './support/workbench.js';

/** Seconds in which each place must say what the supervisor wrote. */
const soon = 5;
const endless = 100_000_000;

let workbench: Workbench;
let cluster: PracticeCluster;
const dir = mkdtempSync(join(tmpdir(), 'ty-states-'));
const images = join(dir, 'images/train');
/** The folder of the newest run, on its head. */
let run = '';

beforeAll(async () => {
  const prep = ['prep', '--from', 'demo:3x16', '--to', join(dir, 'images'), '--image-size', '32'];
  execFileSync(trainer, prep);
  cluster = await startNodes(join(dir, 'practice'), 2);
  workbench = await Workbench.open(undefined, { 'notes.txt': 'another tab\n' });
  trustNodes(workbench, cluster);
  // A rank that is silent for a quarter of hangTimeout is stalled.
  await addProfile(workbench, { ...cluster.profile, maxRestarts: 1, hangTimeout: 20 });
  await workbench.showViews();
});
afterAll(async () => {
  await workbench.close();
  await cluster.stop();
  await endAllOf(dir);
  rmSync(dir, { recursive: true, force: true });
});

const runs = (): string[] => {
  const folder = join(cluster.nodes[0]?.home ?? '', '.trainyard/runs');
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
};
const pids = (): number[] => stateOf(run)?.ranks.map(({ pid }) => pid) ?? [];
const signal = (name: NodeJS.Signals, ...processes: (number | undefined)[]): void => {
  for (const pid of processes) process.kill(pid ?? 0, name);
};

/** Leaves the processors to the editor: the nodes are other machines than the editor's. */
const yieldProcessors = (): void => {
  for (const pid of pids()) setPriority(pid, Math.min(19, getPriority(pid) + 10));
};

/** Starts a training of two ranks, whose dashboard opens in the first group of tabs. */
async function begin(steps: number, ...more: string[]): Promise<void> {
  await workbench.host.command('notifications.clearAll');
  await workbench.host.command('workbench.action.focusFirstEditorGroup');
  // With a larger rate the loss of so few images soon overflows.
  const flags = ['--model', 'mlp', '--data', images, '--threads', '1', '--batch-size', '6', '--lr', '0.001'];
  // The editor draws each line of figures, and here it shares the processors with the training.
  const words = ['train', ...flags, '--steps', String(steps), '--log-every', '50', ...more];
  await workbench.host.command('trainyard.runTraining', { profile: 'practice', words, ranks: 2 });
  run = runs().at(-1) ?? '';
}

/**
 * Leaves the newest dashboard in sight, with another tab in front. A page takes the focus once more
 * when it has loaded, and a dashboard that has the focus needs no notification.
 */
async function lookElsewhere(): Promise<void> {
  await workbench.webview().getByRole('heading', { name: nameOfRun() }).waitFor({ timeout: 30_000 });
  if (runs().length === 1) {
    await workbench.host.command('workbench.action.newGroupRight');
    await workbench.host.command('workbench.action.files.newUntitledFile');
  } else {
    await workbench.host.command('workbench.action.focusSecondEditorGroup');
  }
  await isElsewhere();
}

const isElsewhere = (): Promise<void> =>
  workbench.page.locator('.editor-group-container.active .tab', { hasText: 'Untitled' }).waitFor();

async function start(steps: number, ...more: string[]): Promise<void> {
  await begin(steps, ...more);
  await lookElsewhere();
}

const nameOfRun = (): string => run.split('/').at(-1)?.split('-').slice(2).join('-') ?? '';

interface Places<T> {
  header: T;
  row: T;
  'status bar': T;
  notification: T;
}
type Place = keyof Places<unknown>;

const inPlace = (place: Place, text: RegExp): Locator => {
  const { page } = workbench;
  const name = nameOfRun();
  switch (place) {
    case 'header':
      return workbench.webview().locator('trainyard-header').filter({ hasText: text });
    case 'row':
      return page.locator('.sidebar .monaco-list-row', { hasText: name }).filter({ hasText: text });
    case 'status bar':
      return page.locator('.statusbar-item[id$="trainyard.run"]').filter({ hasText: text });
    case 'notification':
      return page.locator('.notification-toast', { hasText: name }).filter({ hasText: text });
  }
};

interface Written {
  /** Seconds since the epoch, as it stands in what was written on the node. */
  time: number;
}

/**
 * Looks at all four places from now on. Each must say its text soon after `word`; the notification
 * soon after `announced`, where that is another line.
 */
async function said(
  what: string,
  expected: Places<RegExp>,
  word: () => Promise<Written>,
  announced = word,
): Promise<void> {
  await isElsewhere();
  const seen = Object.entries(expected).map(async ([name, text]: [string, RegExp]) => {
    const place = name as Place;
    await inPlace(place, text)
      .waitFor({ timeout: 30_000 })
      .catch(async (cause: unknown) => {
        const texts = (await inPlace(place, /./).allInnerTexts()).join(' | ');
        throw new Error(`${what}: the ${place} does not say ${String(text)}, but ${texts}`, { cause });
      });
    return { place, at: Date.now() / 1000 };
  });
  const all = await Promise.all(seen);
  const since = { word: (await word()).time, announced: (await announced()).time };
  const delays = all.map(({ place, at }) => ({
    place,
    seconds: at - (place === 'notification' ? since.announced : since.word),
  }));
  const words = delays.map(({ place, seconds }) => `${place} ${seconds.toFixed(1)} s`);
  process.stdout.write(`${what}: ${words.join(', ')}\n`);
  for (const { place, seconds } of delays) expect(seconds, `${what}: ${place}`).toBeLessThan(soon);
}

test('a rank that was killed, and the failure when no restart is left', async () => {
  await start(endless, '--checkpoint-every', '500');
  await untilEvent(run, 'checkpoint', 30);
  yieldProcessors();
  signal('SIGKILL', pids()[1]);
  const killed = /rank 1 on 127\.0\.0\.3 was killed by signal 9 \(SIGKILL\)/;
  await said(
    'a killed rank',
    {
      header: new RegExp(`restarting: ${killed.source}.*restart 1 of 1`),
      row: /restarting/,
      'status bar': /restarting/,
      notification: new RegExp(`restart 1 of 1.*${killed.source}`),
    },
    () => untilEvent(run, 'rank_exited', 10),
    () => untilEvent(run, 'restarting', 10), // until then it may be a failure
  );
  await workbench.screenshot('state-restarting', 'dark', 1600);
  await until('a step of the restart', () =>
    linesOf(run, 'metrics.jsonl').some((line) => line.kind === 'step' && line['generation'] === 2),
  );
  yieldProcessors();
  await inPlace('header', /recovered from step \d+, \d+ s lost/).waitFor();
  signal('SIGKILL', pids()[1]);
  await said(
    'a failure',
    {
      header: new RegExp(`failed ran on[^]*${killed.source}`),
      row: new RegExp(`failed: ${killed.source}`),
      'status bar': /failed/,
      notification: new RegExp(`on practice failed: ${killed.source}`),
    },
    () => untilEvent(run, 'finished', 10),
  );
  await workbench.screenshot('state-failed', 'dark', 1600);
});

test('ranks that stand still, and a run that is stopped', async () => {
  await start(endless);
  await untilStep(run, 20);
  yieldProcessors();
  signal('SIGSTOP', ...pids());
  try {
    await said(
      'a stalled run',
      {
        header: /stalled: no step for \d+ s/,
        row: /stalled/,
        'status bar': /stalled/,
        notification: /stalled: no step for \d+ s/,
      },
      () => untilEvent(run, 'stalled', 10),
    );
    await workbench.screenshot('state-stalled', 'light', 1600);
  } finally {
    signal('SIGCONT', ...pids());
  }
  await inPlace('header', /stalled/).waitFor({ state: 'detached' });
  await workbench.host.command('notifications.clearAll');
  const stopping = workbench.host.command('trainyard.stopNow', {
    profile: 'practice',
    id: run.split('/').at(-1),
    dir: run,
  });
  await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Stop Now' }).click();
  await said(
    'a stopped run',
    {
      header: /stopped ran on/,
      row: /stopped/,
      'status bar': /stopped/,
      notification: /on practice stopped/,
    },
    () => untilEvent(run, 'finished', 10),
  );
  await stopping;
});

test('a run that is finished', async () => {
  await begin(100);
  await until('both ranks', () => pids().length === 2);
  signal('SIGSTOP', ...pids()); // else it may end while its dashboard is in front
  try {
    await lookElsewhere();
  } finally {
    signal('SIGCONT', ...pids());
  }
  await said(
    'a finished run',
    {
      header: /finished ran on/,
      row: /finished/,
      'status bar': /finished/,
      notification: /finished after \d+ s/,
    },
    () => untilEvent(run, 'finished', 30),
  );
  await workbench.screenshot('state-finished', 'dark', 1600);
  // By this the command line finds the run, as `last`.
  const noted = readFileSync(join(workbench.folder, 'home/runs.jsonl'), 'utf8').trimEnd().split('\n').at(-1);
  expect(JSON.parse(noted ?? '')).toEqual({ id: run.split('/').at(-1), profile: 'practice' });
});

test('16 of 36 images that cannot be read', async () => {
  const files = readdirSync(images, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.slice(36)) rmSync(file);
  await start(endless);
  await untilStep(run, 20);
  yieldProcessors();
  const damaged = join(dir, 'damaged');
  for (const file of files.slice(20, 36)) {
    writeFileSync(damaged, 'no image');
    renameSync(damaged, file); // whole, as the loader may be reading it
  }
  const bad = (): Line[] => linesOf(run, 'metrics.jsonl').filter(({ kind }) => kind === 'bad_image');
  await said(
    'unreadable images',
    {
      header: /16 of 36 images could not be read/,
      row: /bad images/,
      'status bar': /bad images/,
      notification: /\d+ of 36 images could not be read/,
    },
    () => until('bad images', () => (bad().length === 16 ? { time: Number(bad()[0]?.['time']) } : false)),
  );
  await workbench.screenshot('state-bad-images', 'light', 1600);
});

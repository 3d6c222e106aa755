// A run over SSH that loses a rank, stands still, and is stopped: what header, list, status bar and
// notification say, and how soon after the supervisor said it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPracticeCluster, type PracticeCluster } from '../../scripts/practice/practice.mjs';
import { readLinesSoFar, type Line } from '../support/harness.js';
import { until } from '../editor/hostClient.js';
import { Workbench } from '../editor/workbench.js';

/** Seconds after the supervisor's word. */
const soon = 5;

let workbench: Workbench;
let cluster: PracticeCluster;
let run = '';
const dir = mkdtempSync(join(tmpdir(), 'ty-health-'));

beforeAll(async () => {
  cluster = await startPracticeCluster({ nodes: 2, dir: join(dir, 'practice') });
  workbench = await Workbench.open();
  const profile = { ...cluster.profile, name: 'practice', maxRestarts: 2 };
  const file = join(workbench.folder, 'home/profiles.json');
  const { profiles } = JSON.parse(readFileSync(file, 'utf8')) as { profiles: object[] };
  await workbench.writeFile(file, JSON.stringify({ version: 1, profiles: [...profiles, profile] }));
  await workbench.showViews();
  workbench.cli('trust', 'practice', '--yes');
  await workbench.host.ask('setting', { key: 'trainyard.openTensorBoardOnRun', value: false });
  const words = ['train', '--model', 'mlp', '--data', 'synthetic', '--threads', '1', '--device', 'cpu'];
  const flags = ['--steps', '1000000', '--checkpoint-every', '500'];
  const given = { profile: 'practice', words: [...words, ...flags], ranks: 2 };
  await workbench.host.command('trainyard.runTraining', given);
  await workbench.webview().getByText('step ').first().waitFor({ timeout: 60_000 });
  const [entry] = JSON.parse(`[${workbench.cli('runs', 'practice', '--json').trim()}]`) as { dir: string }[];
  run = entry?.dir ?? '';
  // Its dashboard stays in sight, but is not what the user works in.
  await workbench.host.command('workbench.action.newGroupRight');
  await workbench.host.command('workbench.action.files.newUntitledFile');
});
afterAll(async () => {
  if (run !== '') workbench.cli('stop', run, '--profile', 'practice', '--now');
  await workbench.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const events = (): Line[] => readLinesSoFar(join(run, 'events.jsonl'));
const steps = (): Line[] => readLinesSoFar(join(run, 'metrics.jsonl')).filter(({ kind }) => kind === 'step');
const event = (kind: string, more: (line: Line) => boolean = () => true): Promise<Line> =>
  until(kind, () => events().find((line) => line.kind === kind && more(line)), 60);
const pidOf = (rank: number): number => {
  const { ranks } = JSON.parse(readFileSync(join(run, 'state.json'), 'utf8')) as {
    ranks: { rank: number; pid: number }[];
  };
  return ranks.find((one) => one.rank === rank)?.pid ?? 0;
};
const header = (): Promise<string> => workbench.webview().locator('.health').innerText();
const toast = (text: string | RegExp): Locator =>
  workbench.page.locator('.notification-toast', { hasText: text });

/** All that shows the run says `text` (its list and status bar: `short`) soon after `since`. */
async function shownEverywhere(since: Line, text: string | RegExp, short: string): Promise<void> {
  const seconds = async (what: string, ask: () => Promise<boolean>): Promise<number> => {
    await until(what, async () => ((await ask()) ? true : undefined), 15);
    return Date.now() / 1000 - (since['time'] as number);
  };
  const times = await Promise.all([
    seconds('the header', async () => new RegExp(text).test(await header())),
    seconds('the list', async () => JSON.stringify((await workbench.snapshot()).runs).includes(short)),
    seconds('the status bar', async () =>
      ((await workbench.snapshot()).statusBar ?? '').startsWith(`$(warning) ${short}`),
    ),
  ]);
  expect(Math.max(...times)).toBeLessThan(soon);
}

test('a killed rank: restarting, why, and from where; then what it cost', { timeout: 120_000 }, async () => {
  await until('a checkpoint', () => events().find(({ kind }) => kind === 'checkpoint'), 60);
  process.kill(pidOf(1), 'SIGKILL');
  const lost = await event('rank_exited');
  const why = /restarting: rank 1 on .* was killed by signal 9 \(SIGKILL\).*restart 1 of 2/;
  await shownEverywhere(lost, why, 'restarting');
  await workbench.screenshot('health-restarting', 'dark', 1600);
  const again = await event('started', (line) => line['generation'] === 2);
  await toast(/was started again \(restart 1 of 2\): rank 1 on .* was killed by signal 9/).waitFor();
  expect(Date.now() / 1000 - (again['time'] as number)).toBeLessThan(soon);
  await until('a step', () => steps().find((line) => line['generation'] === 2), 60);
  await until('what it cost', async () =>
    /^recovered from step \d+, \d+ s lost/.test(await header()) ? 1 : undefined,
  );
});

test('a rank that stands still: stalled, and for whom the others wait', { timeout: 120_000 }, async () => {
  await workbench.host.command('notifications.clearAll');
  const pid = pidOf(1);
  process.kill(pid, 'SIGSTOP');
  try {
    const stalled = await event('stalled');
    await shownEverywhere(stalled, /stalled: no step for \d+ s, waiting for rank 1 on/, 'stalled');
    await toast(/stalled: no step for/).waitFor();
    expect(Date.now() / 1000 - (stalled['time'] as number)).toBeLessThan(soon);
    await workbench.screenshot('health-stalled', 'light', 1600);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until('steps again', async () => ((await header()).includes('stalled') ? undefined : true));
});

test('a run that is stopped: said, with the step to resume from', { timeout: 60_000 }, async () => {
  await workbench.host.command('notifications.clearAll');
  workbench.cli('stop', run, '--profile', 'practice');
  const over = await event('finished');
  await toast(/on practice stopped/).waitFor();
  expect(Date.now() / 1000 - (over['time'] as number)).toBeLessThan(soon);
  await workbench
    .webview()
    .getByRole('button', { name: /^Resume from step/ })
    .waitFor();
  run = '';
});

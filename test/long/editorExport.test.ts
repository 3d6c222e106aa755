// Export Run…, by the menu of a run's row and by the palette: what the files then have.
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodedRecord, historyValues } from '../../src/core/export/wandb/records.js';
import { recordsOf } from '../../src/core/export/wandb/transactionLog.js';
import { lastOnly, readLines } from '../support/harness.js';
import { until } from '../editor/support/hostClient.js';
import { answer, clickMenu, pick } from '../editor/support/questions.js';
import { Workbench } from '../editor/support/workbench.js';

const words = 'train --model mlp --data synthetic --steps 40 --log-every 10 --checkpoint-every 20'.split(' ');

let workbench: Workbench;
let dir = '';
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
  await workbench.host.command('trainyard.runTraining', { words, ranks: 2 });
  dir = workbench.runs().at(-1) ?? '';
  await until('run finished', () => (workbench.state(dir).phase === 'finished' ? true : undefined), 60);
});
afterAll(() => workbench.close());

const row = (): Locator =>
  workbench.page.locator('.sidebar .monaco-list-row', { hasText: /mlp-.*finished/ }).first();
const toast = (text: string): Locator =>
  workbench.page.locator('.notification-toast', { hasText: text }).first();
/** Steps and losses that the run's own file has. */
const losses = (): [number, number][] =>
  readLines(join(dir, 'metrics.jsonl')).flatMap((line) =>
    line.kind === 'step' ? [[Number(line['step']), Number(line['loss'])]] : [],
  );

test('by the menu of the row, into a file of CSV that has every step', async () => {
  const file = join(workbench.folder, 'workspace/figures.csv');
  await clickMenu(workbench, row(), 'Export Run…');
  await pick(workbench, 'Where to?', 'CSV');
  await answer(workbench, 'Export Run: the file of CSV', file);
  await toast(`${file} has `).waitFor();
  await workbench.screenshot('export', 'dark', 1280);
  const [head = [], ...rows] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  const at = (name: string): number => head.indexOf(name);
  const steps = rows.filter((cells) => cells[at('step')] !== '');
  expect(steps.map((cells) => [Number(cells[at('step')]), Number(cells[at('train/loss')])])).toEqual(
    losses(),
  );
  expect(steps.every((cells) => Number(cells[at('rank/1/memory_used')]) > 0)).toBe(true);
  expect(readdirSync(join(workbench.folder, 'workspace'))).toEqual(['figures.csv']);
  await toast(`${file} has `).getByRole('button', { name: 'Open File' }).click();
  await until('the file in front', async () => {
    const tabs = await workbench.host.ask('tabs', {});
    return tabs.some(({ label, active }) => active && label.includes('figures.csv')) ? true : undefined;
  });
  await workbench.host.command('workbench.action.closeAllEditors');
  await workbench.host.command('notifications.clearAll');
});

test('by the palette, into a folder of W&B', async () => {
  const parent = join(workbench.folder, 'home');
  expect((await workbench.palette('Export Run')).join()).toContain('Export Run…');
  await workbench.page.keyboard.press('Enter');
  await pick(workbench, 'Where to?', 'W&B');
  await answer(workbench, "Export Run: where W&B's folder wandb is", parent);
  await toast('wandb sync').waitFor();
  const [name = ''] = readdirSync(join(parent, 'wandb'));
  const file = join(parent, 'wandb', name, `run-${dir.split('/').at(-1) ?? ''}.wandb`);
  expect(existsSync(file)).toBe(true);
  const found = (recordsOf(readFileSync(file)) ?? []).flatMap(({ data }): [number, number][] => {
    const record = decodedRecord(data);
    const values = record?.kind === 'history' ? historyValues(record.body) : undefined;
    const loss = values?.get('train/loss');
    return loss === undefined ? [] : [[values?.get('trainyard/step') ?? NaN, loss]];
  });
  expect(found).toEqual(losses());
  await workbench.host.command('notifications.clearAll');
});

test('a server that is not there is named', async () => {
  await clickMenu(workbench, row(), 'Export Run…');
  await pick(workbench, 'Where to?', 'MLflow');
  await answer(workbench, 'Address of the MLflow server', 'http://127.0.0.1:9');
  await answer(workbench, 'Experiment of MLflow', 'trainyard');
  await pick(workbench, 'Checkpoints as artifacts?', 'No checkpoints');
  await toast('MLflow at http://127.0.0.1:9 was not reached').waitFor();
});

test('a run under way is followed to its end', async () => {
  const endless = lastOnly([...words, '--steps', '1000000']);
  await workbench.host.command('notifications.clearAll');
  await workbench.host.command('trainyard.runTraining', { words: endless, ranks: 1 });
  dir = workbench.runs().at(-1) ?? '';
  const file = join(workbench.folder, 'workspace/live.csv');
  const running = workbench.page.locator('.sidebar .monaco-list-row', { hasText: /mlp-.*running/ }).first();
  await clickMenu(workbench, running, 'Export Run…');
  await pick(workbench, 'Where to?', 'CSV');
  await answer(workbench, 'Export Run: the file of CSV', file);
  await pick(workbench, 'How long?', 'Until the run is over');
  await until('figures of the run under way', () => (existsSync(file) ? true : undefined), 30);
  workbench.cli('stop', dir);
  await toast(`${file} has `).waitFor({ timeout: 60_000 });
  const steps = readFileSync(file, 'utf8')
    .split('\r\n')
    .flatMap((line) => (/^\d/.test(line) ? [Number(line.split(',')[0])] : []));
  expect(steps).toEqual(losses().map(([step]) => step));
});

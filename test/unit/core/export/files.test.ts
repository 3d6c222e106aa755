// A run as a table in a file: a row for each step and each sample, and a file that is the old or
// the new one.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import { metricSchema } from '../../../../src/core/contracts/metricsSchema.js';
import { FileTracker } from '../../../../src/core/export/files/tracker.js';
import { csvOf } from '../../../../src/core/export/files/table.js';
import { RunRecord } from '../../../../src/core/export/runRecord.js';
import { temporaryFolder } from '../../../support/harness.js';

const folder = temporaryFolder('export-files');
afterAll(() => {
  folder.remove();
});

const details: RunDetails = {
  id: 'run/1',
  dir: nodePath('/runs/1'),
  run: null,
  state: null,
  interrupted: false,
  files: {},
} as RunDetails;

const base = { generation: 1, epoch: 0, top1: null, lr: 0.1, images_per_sec: 7, step_ms: 1 };
const step = (at: number, loss: number | null, generation = 1): object => ({
  ...{ ...base, kind: 'step', time: 100 + at, step: at, loss, generation },
  ...{ comm_ms: 0, input_wait_ms: 0, world: 1 },
});
const evaluation = { kind: 'eval', time: 190, generation: 1, step: 20, top1: 0.5, top5: 1, loss: 2 };
const host = { kind: 'host', time: 110, generation: 1, step: 10, rank: 0, host: 'h', device: 'cpu' };

function recordOf(...lines: object[]): RunRecord {
  const record = new RunRecord(details);
  for (const line of lines) record.addMetric(line, metricSchema.parse(line));
  return record;
}
const lines = [
  step(10, 3),
  { ...host, memory_used: 5, memory_peak: 6, bad_images: 0 },
  step(20, 2.5),
  { ...evaluation, images: 4, checkpoint: 'step-00000020', seconds: 1 },
];
const column = (csv: string, name: string): (string | undefined)[] => {
  const [head = [], ...rows] = csv
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((row) => row[head.indexOf(name)]);
};

it('a row for each step, with evaluation and ranks; then one for each sample', () => {
  const record = recordOf(...lines);
  record.addSample('h', {
    ...{ time: 100, host: 'h', cpu_percent: 12.5, memory_used: 9, memory_total: 10, disk_free: 1 },
    gpus: [],
  });
  const csv = csvOf(record);
  expect(column(csv, 'step')).toEqual(['10', '20', '']);
  expect(column(csv, 'seconds')).toEqual(['', '', '0']);
  expect(column(csv, 'time')).toEqual(['110', '120', '100']);
  expect(column(csv, 'train/loss')).toEqual(['3', '2.5', '']);
  expect(column(csv, 'eval/top1')).toEqual(['', '0.5', '']);
  expect(column(csv, 'rank/0/memory_used')).toEqual(['5', '', '']);
  expect(column(csv, 'system/h/cpu_percent')).toEqual(['', '', '12.5']);
});

it('steps that a restart repeated stand once, and a curve that is gone has no column', () => {
  const csv = csvOf(recordOf(...lines, step(20, null, 2)));
  expect(column(csv, 'step')).toEqual(['10', '20']);
  expect(column(csv, 'train/loss')).toEqual(['3', '']);
  expect(csv.split('\r\n')[0]).not.toContain('eval/');
});

it('a file named after the run, or as it is asked for; nothing else is left beside it', async () => {
  const at = join(folder.path, 'out');
  mkdirSync(at);
  const named = new FileTracker({ form: 'csv', path: at, profile: 'local' });
  await named.demand();
  await named.sync(recordOf(...lines), {});
  expect(await named.finish()).toBe(join(at, 'run-1.csv'));
  const chosen = new FileTracker({ form: 'json', path: join(at, 'mine.json'), profile: 'local' });
  await chosen.demand();
  await chosen.sync(recordOf(...lines), {});
  const { run, steps, samples } = JSON.parse(readFileSync(await chosen.finish(), 'utf8')) as {
    run: { id: string; state: Record<string, string> };
    steps: { step: number; time: number; values: Record<string, number> }[];
    samples: object[];
  };
  expect(run).toMatchObject({ id: 'run/1', state: { profile: 'local', restarts: '0' } });
  expect(steps.map((row) => [row.step, row.values['train/loss']])).toEqual([
    [10, 3],
    [20, 2.5],
  ]);
  expect(samples).toEqual([]);
  expect(readdirSync(at).sort()).toEqual(['mine.json', 'run-1.csv']);
});

it('says where the folder is missing, and leaves nothing where the file cannot be written', async () => {
  const missing = new FileTracker({ form: 'csv', path: join(folder.path, 'no/where.csv'), profile: 'p' });
  await expect(missing.demand()).rejects.toMatchObject({ code: 'usage' });
  const at = join(folder.path, 'gone');
  mkdirSync(at);
  const tracker = new FileTracker({ form: 'csv', path: join(at, 'a.csv'), profile: 'p' });
  await tracker.demand();
  const target = join(at, 'a.csv');
  mkdirSync(target);
  writeFileSync(join(target, 'taken'), '');
  await expect(tracker.sync(recordOf(...lines), {})).rejects.toMatchObject({ code: 'failed' });
  expect(readdirSync(at)).toEqual(['a.csv']);
  expect(existsSync(join(target, 'taken'))).toBe(true);
});

// What own programs report becomes figures.jsonl: files of TensorBoard's own writer, and lines of
// JSON by the program of docs/own-metrics.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectExit,
  processesNaming,
  readLines,
  runCli,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('own-figures');
let python = '';

beforeAll(async () => {
  const made = await runCli(['runtime', '--json']);
  expectExit(made, 0);
  python = (JSON.parse(made.stdout) as { python: string }).python;
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

/** The runtime's Python with its packages, without what the test's own environment names. */
const program = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};

/** TensorBoard on the run's folder, as the agent serves it. */
async function served(dir: string): Promise<{ ask: (path: string) => Promise<unknown>; end: () => void }> {
  const socketPath = join(folder.path, 'socket', 'board');
  mkdirSync(join(folder.path, 'socket'), { mode: 0o700 });
  const server = join(import.meta.dirname, '../../../native/agent/tensorboard/tensorboard_server.py');
  const words = ['-I', server, '--logdir', dir, '--socket', socketPath, '--idle', '120'];
  const child = spawn(python, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const ask = (path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, path }, (answer) => {
        text(answer).then((body) => {
          resolve(answer.statusCode === 200 ? JSON.parse(body) : []);
        }, reject);
      });
      asked.on('error', reject).end();
    });
  await until(
    'TensorBoard to have read the files',
    async () => ((await ask('/data/runs')) as string[]).length > 0,
    30,
  );
  return { ask, end: () => child.kill() };
}

const writesEvents = `
import os, sys, time
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

writer = EventFileWriter(sys.argv[1])
for step in range(1, 6):
    values = [summary_pb2.Summary.Value(tag="train/loss", simple_value=1.0 / step)]
    about = summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"))
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[100.0 + step])
    values.append(summary_pb2.Summary.Value(tag="images_per_sec", tensor=tensor, metadata=about))
    writer.add_event(event_pb2.Event(wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=values)))
writer.close()
`;

it('files of TensorBoard below --logdir, by its own writer', async () => {
  const dir = join(folder.path, 'events-run');
  const script = program('events.py', writesEvents);
  mkdirSync(join(folder.path, 'logs'));
  const words = ['--', python, script, join(folder.path, 'logs', 'first')];
  const ended = await runCli(['run', 'local', '--run-dir', dir, '--logdir', 'logs', ...words], {
    cwd: folder.path,
  });
  expectExit(ended, 0);
  const figures = readLines(join(dir, 'figures.jsonl'));
  expect(figures.filter(({ tag }) => tag === 'train/loss').map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
  const last = figures.findLast(({ tag }) => tag === 'images_per_sec');
  expect(last).toMatchObject({ step: 5, value: 105, generation: 1, writer: 'first' });
  const board = await served(dir);
  try {
    // The further folder appears as logdir; its figures are there to the last one.
    expect(await board.ask('/data/runs')).toContain('logdir/first');
    const tag = 'run=logdir%2Ffirst&tag=train%2Floss';
    const points = (await board.ask(`/data/plugin/scalars/scalars?${tag}`)) as [number, number, number][];
    expect(points.map(([, step, value]) => [step, value])).toEqual(
      [1, 2, 3, 4, 5].map((step) => [step, Math.fround(1 / step)]),
    );
  } finally {
    board.end();
  }
});

it('lines of JSON, by the program of the documentation', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/own-metrics.md'), 'utf8');
  const example = /```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const dir = join(folder.path, 'lines-run');
  const script = program('lines.py', `${example}\nreport(2, loss=float("nan"))\nreport("no step")\n`);
  const ended = await runCli(['run', 'local', '--ranks', '2', '--run-dir', dir, '--', python, script], {
    cwd: folder.path,
  });
  expectExit(ended, 0);
  const figures = readLines(join(dir, 'figures.jsonl')).map(({ tag, step, value, writer }) =>
    [writer, tag, step, value].join(' '),
  );
  expect(figures.sort()).toEqual(
    ['rank 0', 'rank 1'].flatMap((rank) => [
      `${rank} images_per_sec 1 410`,
      `${rank} loss 2 `,
      `${rank} train/loss 1 2.3`,
    ]),
  );
  expect(ended.stdout).toContain('metrics.jsonl');
  expect(readFileSync(join(dir, 'events.jsonl'), 'utf8')).toContain('figures_passed_over');
});

it('--logdir with our own training is a mistake that is named', async () => {
  const ended = await runCli([
    'run',
    'local',
    '--logdir',
    'logs',
    '--',
    'train',
    '--model',
    'mlp',
    '--data',
    'synthetic',
  ]);
  expectExit(ended, 2);
  expect(ended.stderr).toContain('event files');
  expect(existsSync(join(folder.path, 'train'))).toBe(false);
});

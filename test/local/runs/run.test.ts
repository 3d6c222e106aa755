// The main job through the command-line tool: run, lose the client, attach again, and read what is
// left.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEvent } from '../../../src/core/contracts/runSchema.js';
import { parseMetric } from '../../../src/core/contracts/metricsSchema.js';
import {
  cli,
  eventReader,
  expectExit,
  lastOnly,
  processesNaming,
  readLines,
  readLinesSoFar,
  run,
  runCli,
  runTrainer,
  start,
  temporaryFolder,
  until,
} from '../../support/harness.js';
import type { Line, Running } from '../../support/harness.js';

const folder = temporaryFolder('run');
const data = join(folder.path, 'data');
const images = 5 * 60 * 0.8;

beforeAll(async () => {
  expectExit(await runCli(['runtime']), 0);
  expectExit(await runTrainer(['prep', '--from', 'demo:5x60', '--to', data]), 0);
});
afterAll(async () => {
  await until('every process of the runs to end', () => processesNaming(folder.path).length === 0, 20);
  folder.remove();
});

interface Message {
  type: string;
  offset?: number;
  line?: Line;
}
const messages = (text: string): Message[] =>
  text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message);

const command = (dir: string, ...more: string[]): string[] =>
  lastOnly([
    'train',
    '--model',
    'resnet20',
    '--data',
    join(data, 'train'),
    '--eval-data',
    join(data, 'validation'),
    '--run-dir',
    dir,
    '--batch-size',
    '12',
    '--lr',
    '0.05',
    '--log-every',
    '1',
    ...more,
  ]);
const client = (...args: string[]): Running => start(process.execPath, [cli, ...args]);

describe('a run on the local profile', () => {
  it('survives SIGKILL of its client; attached again, no metrics line is lost or doubled', async () => {
    const dir = join(folder.path, 'killed');
    const first = client('run', 'local', '--json', '--ranks', '2', '--', ...command(dir, '--epochs', '14'));
    await until('20 steps', () => messages(first.stdout).filter((m) => m.line?.kind === 'step').length >= 20);
    first.child.kill('SIGKILL');
    await first.ended;
    const seen = messages(first.stdout).filter((m) => m.type === 'metric');
    const before = readLinesSoFar(join(dir, 'metrics.jsonl')).length;
    await until(
      'ten more steps without a client',
      () => readLinesSoFar(join(dir, 'metrics.jsonl')).length > before + 10,
    );

    const second = client('attach', dir, '--json');
    const outcome = await second.ended;
    expectExit(outcome, 0);
    const attached = messages(outcome.stdout).filter((m) => m.type === 'metric');
    const file = readFileSync(join(dir, 'metrics.jsonl'), 'utf8');
    const lines = readLines(join(dir, 'metrics.jsonl'));
    // What the second client showed is the file, line by line; what the first showed is its
    // beginning.
    expect(attached.map((m) => m.line)).toEqual(lines);
    expect(seen.map((m) => m.line)).toEqual(lines.slice(0, seen.length));
    for (const m of attached) {
      expect(file.slice(m.offset, file.indexOf('\n', m.offset))).toBe(file.split('\n')[attached.indexOf(m)]);
    }
    const steps = lines.filter((line) => line.kind === 'step').map((line) => line['step']);
    const total = Math.floor(images / 24) * 14;
    expect(steps).toEqual(Array.from({ length: total }, (_, i) => i + 1));

    // Not slowed: a client's end that held steps up would show in every one. Other work of the
    // machine shows in some, so the fastest of them is looked at.
    const stepTimes = lines.filter((line) => line.kind === 'step').map((line) => Number(line['step_ms']));
    const median = (values: number[]): number =>
      [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
    const withClient = median(stepTimes.slice(5, 20));
    const without = Math.min(...stepTimes.slice(25, 40));
    expect(without).toBeLessThan(1.5 * withClient);
  });

  it('leaves what the contracts promise: journal, metrics, checkpoints, event files, summary', async () => {
    const dir = join(folder.path, 'whole');
    const outcome = await runCli([
      'run',
      'local',
      '--json',
      '--ranks',
      '2',
      '--name',
      'whole',
      '--',
      ...command(dir, '--epochs', '4', '--keep', '3'),
    ]);
    expectExit(outcome, 0);
    const summary = messages(outcome.stdout).find((m) => m.type === 'summary');
    expect(summary).toMatchObject({ phase: 'finished', exit_code: 0, dir });
    for (const line of readLines(join(dir, 'metrics.jsonl')))
      expect(() => parseMetric(line), JSON.stringify(line)).not.toThrow();
    const events = readLines(join(dir, 'events.jsonl'));
    for (const event of events) expect(() => parseEvent(event), JSON.stringify(event)).not.toThrow();
    const kinds = events.map((event) => event.kind);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'created',
        'started',
        'rank_started',
        'rank_exited',
        'evaluator_started',
        'evaluator_exited',
        'checkpoint',
        'finished',
      ]),
    );
    expect(kinds.filter((kind) => kind === 'rank_exited')).toHaveLength(2);
    expect(readdirSync(join(dir, 'checkpoints')).length).toBeGreaterThanOrEqual(3);
    const checkpoints = await runCli(['checkpoints', dir, '--verify', '--json']);
    expectExit(checkpoints, 0);
    expect(messages(checkpoints.stdout).length).toBeGreaterThanOrEqual(3);

    const runtime = await runCli(['runtime', '--json']);
    const { python } = JSON.parse(runtime.stdout.trim().split('\n').at(-1) ?? '') as { python: string };
    const read = await run(python, [eventReader, dir]);
    expectExit(read, 0);
    const { runs: tags } = JSON.parse(read.stdout) as {
      runs: Record<string, { scalars: Record<string, unknown>; graph: boolean }>;
    };
    expect(Object.keys(tags['train']?.scalars ?? {})).toEqual(
      expect.arrayContaining(['loss', 'top1', 'lr', 'images_per_sec']),
    );
    expect(tags['train']?.graph).toBe(true);
    expect(Object.keys(tags['eval']?.scalars ?? {})).toEqual(
      expect.arrayContaining(['loss', 'top1', 'top5']),
    );
  });

  it('stop: a checkpoint, exit 75, and the run reads as stopped; then it goes on where it was', async () => {
    const dir = join(folder.path, 'stopped');
    const running = client(
      'run',
      'local',
      '--json',
      '--ranks',
      '2',
      '--',
      ...command(dir, '--epochs', '6', '--checkpoint-every', '1000'),
    );
    await until(
      'five steps',
      () => messages(running.stdout).filter((m) => m.line?.kind === 'step').length >= 5,
    );
    expectExit(await runCli(['stop', dir]), 0);
    expectExit(await running.ended, 75);
    const stopped = readLines(join(dir, 'metrics.jsonl'));
    const at = stopped.find((line) => line.kind === 'end')?.['step'];
    expect(stopped.filter((line) => line.kind === 'checkpoint').map((line) => line['step'])).toEqual([at]);
    expect(JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8'))).toMatchObject({
      phase: 'stopped',
      exitCode: 75,
    });

    expectExit(
      await runCli([
        'run',
        'local',
        '--json',
        '--ranks',
        '2',
        '--',
        ...command(dir, '--epochs', '6', '--checkpoint-every', '1000'),
      ]),
      0,
    );
    const steps = readLines(join(dir, 'metrics.jsonl'))
      .filter((line) => line.kind === 'step')
      .map((line) => line['step']);
    expect(steps).toEqual(Array.from({ length: Math.floor(images / 24) * 6 }, (_, i) => i + 1));
  });

  it('Ctrl-C once stops after a checkpoint, twice stops now, and no process stays', async () => {
    for (const [times, phase] of [
      [1, 'stopped'],
      [2, 'stopped'],
    ] as const) {
      const dir = join(folder.path, `ctrl-c-${times}`);
      const running = client(
        'run',
        'local',
        '--json',
        '--ranks',
        '2',
        '--',
        ...command(dir, '--epochs', '1000', '--checkpoint-every', '100000'),
      );
      await until(
        'three steps',
        () => messages(running.stdout).filter((m) => m.line?.kind === 'step').length >= 3,
      );
      for (let i = 0; i < times; ++i) running.child.kill('SIGINT');
      expectExit(await running.ended, 75);
      expect(JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8'))).toMatchObject({ phase });
      await until('every process to end', () => processesNaming(dir).length === 0, 15);
    }
  });

  it('any other command runs the same way', async () => {
    const dir = join(folder.path, 'command');
    const outcome = await runCli([
      'run',
      'local',
      '--json',
      '--ranks',
      '2',
      '--run-dir',
      dir,
      '--',
      '/bin/sh',
      '-c',
      'echo rank $PMI_RANK of $PMI_SIZE',
    ]);
    expectExit(outcome, 0);
    expect(readFileSync(join(dir, 'logs/rank-1.log'), 'utf8')).toContain('rank 1 of 2');
  });
});

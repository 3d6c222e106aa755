// The comparison reads metrics through the agent, which merges neighbouring steps of long runs. What
// it reads of random histories is what a reader of the whole file reads.
import fc from 'fast-check';
import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { openLocalAgent } from '../../../src/core/agent/localAgent.js';
import { stepOf } from '../../../src/core/checkpoints/choose.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { check } from '../../../src/core/base/validation.js';
import { metricSchema } from '../../../src/core/contracts/metricsSchema.js';
import { RunMetrics } from '../../../src/core/model/runMetrics.js';
import { StepTable } from '../../../src/core/model/series/stepTable.js';
import { OverviewReader } from '../../../src/core/follow/overview.js';
import { CompareReader } from '../../../src/core/follow/compareReader.js';
import { stateOf } from '../../unit/support/fakeRun.js';
import { acts, History } from '../../unit/support/histories.js';
import { evalLine } from '../../unit/support/lines.js';
import { temporaryFolder, trainer } from '../../support/harness.js';

const folder = temporaryFolder('merged-metrics');
const node = new AgentNode({ open: () => openLocalAgent(join(dirname(trainer), 'agent')) });
afterAll(() => {
  node.dispose();
  folder.remove();
});

function read(lines: readonly unknown[]): RunMetrics {
  const metrics = new RunMetrics(new StepTable());
  for (const raw of lines) {
    const line = check(metricSchema, raw);
    if (line.ok) metrics.add(line.data);
  }
  return metrics;
}

function parse(text: string): unknown[] {
  return text.split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** What a comparison shows, but for curves and sums. */
const shown = ({ evaluations, checkpoints, progress, restarts, start, best }: RunMetrics): object => {
  return {
    evaluations: evaluations.all.map(({ step, top1, loss }) => ({ step, top1, loss })),
    checkpoints: checkpoints.all,
    ...{ progress, restarts, start, best: best?.step },
  };
};

it('the agent leaves out no line that counts', { timeout: 60_000 }, async () => {
  const client = await node.client();
  for (const [at, list] of fc.sample(acts, { numRuns: 60, seed: 20261125 }).entries()) {
    const dir = join(folder.path, `history-${String(at)}`);
    const text = new History(list).pieces.join('');
    mkdirSync(dir);
    writeFileSync(join(dir, 'run.json'), '{}');
    writeFileSync(join(dir, 'metrics.jsonl'), text);
    const ask = async (rows: number): Promise<RunMetrics> =>
      read((await client.request('metrics.read', { dir: nodePath(dir), rows })).lines);
    const whole = read(parse(text));
    const unmerged = await ask(8192);
    expect(shown(unmerged)).toEqual(shown(whole));
    expect(unmerged.evaluations.all).toEqual(whole.evaluations.all);
    expect(unmerged.steps?.slice()).toEqual(whole.steps?.slice());
    expect(unmerged.steps?.imagesPerSec()).toEqual(whole.steps?.imagesPerSec());
    expect(shown(await ask(3))).toEqual(shown(whole));
  }
});

it('a long run has the same sums and bounds in few rows', { timeout: 60_000 }, async () => {
  const dir = join(folder.path, 'long');
  const lines = Array.from({ length: 20_000 }, (_, index) => {
    const step = index + 1;
    const rates = { images_per_sec: 100 + (step % 11), step_ms: 250.25, comm_ms: 12.5, input_wait_ms: 1.25 };
    const time = 1.79e9 + step / 4;
    return {
      ...{ kind: 'step', time, generation: 1, step, epoch: step / 160, loss: 6 / Math.sqrt(step), top1: 0.5 },
      ...{ lr: 0.1, ...rates, world: 4 },
    };
  });
  const start = {
    ...{ kind: 'start', time: 1.79e9, generation: 1, model: 'm', parameters: 1, classes: 2, class_names: [] },
    ...{ train_images: 40_960, world: 4, batch_size: 64, global_batch: 256, steps_per_epoch: 160 },
    ...{ total_steps: 20_000, resumed_from: null, precision: 'fp32', device: 'cpu' },
  };
  mkdirSync(dir);
  writeFileSync(join(dir, 'run.json'), '{}');
  const all = [start, ...lines];
  writeFileSync(join(dir, 'metrics.jsonl'), all.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const client = await node.client();
  const answer = await client.request('metrics.read', { dir: nodePath(dir), rows: 1024 });
  expect(answer.lines.length).toBeGreaterThan(900);
  expect(answer.lines.length).toBeLessThan(1030);
  const [merged, whole] = [read(answer.lines), read(all)];
  expect(merged.progress).toEqual(whole.progress);
  expect(merged.steps?.leastLoss()).toBe(whole.steps?.leastLoss());
  const rate = whole.steps?.imagesPerSec() ?? 0;
  expect(merged.steps?.imagesPerSec()).toBeCloseTo(rate, 6);
  const { rows } = merged.steps?.slice() ?? {};
  expect(Math.min(...(rows?.imagesPerSecMin ?? []))).toBe(100);
  expect(Math.max(...(rows?.imagesPerSecMax ?? []))).toBe(110);
});

it.each(['running', 'finished'] as const)(
  'the line of a list of a long run that is %s has all of it',
  { timeout: 60_000 },
  async (phase) => {
    const dir = nodePath(join(folder.path, phase));
    const steps = 12_000;
    const at = (step: number): { time: number; generation: 1; step: number } => ({
      ...{ time: 1.79e9 + step, generation: 1, step },
    });
    const figures = {
      images_per_sec: 2560,
      step_ms: 900,
      comm_ms: 9.5,
      input_wait_ms: 0.5,
      lr: 0.1,
      world: 2,
    };
    const host = { kind: 'host', device: 'NVIDIA H200', memory_used: 8e9, memory_peak: 9e9, bad_images: 0 };
    const lines = Array.from({ length: steps }, (_, index) => [
      { kind: 'step', ...at(index + 1), epoch: index / 500, loss: 1.5, top1: 0.5, ...figures },
      ...[0, 1].map((rank) => ({ ...host, ...at(index + 1), rank, host: `gpu${String(rank)}` })),
    ]).flat();
    const evaluations = [
      [2000, 0.7],
      [6000, 0.91],
      [11_000, 0.8],
      [12_000, 0.79],
    ] as const;
    for (const [step, top1] of evaluations) {
      const place = lines.findIndex((line) => line.kind === 'host' && line.step === step);
      lines.splice(place, 0, { ...evalLine(step, top1), ...at(step) } as never);
    }
    const start = {
      ...{
        kind: 'start',
        time: 1.79e9,
        generation: 1,
        model: 'm',
        parameters: 1,
        classes: 2,
        class_names: [],
      },
      ...{ train_images: 40_960, world: 2, batch_size: 64, global_batch: 2560, steps_per_epoch: 500 },
      ...{ total_steps: 20_000, resumed_from: null, precision: 'fp32', device: 'cuda' },
    };
    mkdirSync(dir);
    writeFileSync(join(dir, 'run.json'), '{}');
    const text = (list: readonly object[]): string =>
      list.map((line) => `${JSON.stringify(line)}\n`).join('');
    const file = join(dir, 'metrics.jsonl');
    writeFileSync(file, text([start, ...lines]));
    expect(statSync(file).size).toBeGreaterThan(4e6);
    const client = await node.client();
    const entry = { ...(await client.request('run.get', { dir })), interrupted: false };
    const listed = { ...entry, state: stateOf(phase, 1.79e9 + steps) as never };
    const reader = new OverviewReader();
    const first = await reader.read(client, listed);
    expect(first).toMatchObject({
      step: steps,
      totalSteps: 20_000,
      best: { step: 6000, top1: 0.91 },
      top1: 0.79,
    });
    expect(first.medianRate).toBe(2560);
    expect(first.health.kind).toBe(phase === 'running' ? 'healthy' : 'over');
    expect(first.top1At(2000)).toBe(0.7);
    expect(await stepOf(client, listed, 'best')).toBe(6000);
    if (phase === 'finished') return;
    appendFileSync(
      file,
      text([
        { ...lines[0], ...at(steps + 1) },
        { ...evalLine(steps + 1, 0.95), ...at(steps + 1) },
      ]),
    );
    const later = await reader.read(client, listed);
    expect(later).toMatchObject({ step: steps + 1, best: { step: steps + 1, top1: 0.95 } });
  },
);

it('a run of which an answer would be too long is read whole', { timeout: 60_000 }, async () => {
  const dir = nodePath(join(folder.path, 'wordy'));
  mkdirSync(dir);
  writeFileSync(join(dir, 'run.json'), '{}');
  const bad = { kind: 'bad_image', time: 1, generation: 1, message: 'cut off'.repeat(200), count: 1 };
  const lines = Array.from({ length: 6500 }, (_, at) => ({ ...bad, path: `${String(at)}.jpeg` }));
  const text = [...lines, evalLine(40, 0.5)].map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(dir, 'metrics.jsonl'), text);
  const client = await node.client();
  await expect(client.request('metrics.read', { dir, rows: 1 })).rejects.toThrow('over 8 MiB');
  const { figures } = await new CompareReader().read(client, 'local', {
    ...(await client.request('run.get', { dir })),
    state: stateOf('finished') as never,
  });
  expect(figures.top1).toBe(0.5);
});

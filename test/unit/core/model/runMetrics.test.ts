// The one reading of metrics.jsonl, and what a restart supersedes in it.
import { describe, expect, it } from 'vitest';
import { endlessSteps } from '../../../../src/core/model/measured.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import { StepTable } from '../../../../src/core/model/series/stepTable.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';

const withSteps = (): RunMetrics & { steps: StepTable } => {
  const steps = new StepTable();
  return Object.assign(new RunMetrics(steps), { steps });
};

const about = (
  step: number,
  generation = 1,
): { time: number; generation: number; step: number; path: string } => ({
  time: 1,
  generation,
  step,
  path: 'p',
});
const checkpoint = (step: number, generation = 1): Metric => ({
  ...about(step, generation),
  kind: 'checkpoint',
  bytes: 1,
  write_ms: 1,
});

/** A first generation that made these steps. */
function begun(...steps: number[]): ReturnType<typeof withSteps> {
  const metrics = withSteps();
  metrics.add(startLine());
  for (const step of steps) metrics.add(stepLine(step));
  return metrics;
}

describe('RunMetrics', () => {
  it('counts all images over all time, not the mean of the rates', () => {
    const metrics = withSteps();
    metrics.add(startLine());
    metrics.add(stepLine(10, { images_per_sec: 640 })); // 640 images in 1 s
    metrics.add(stepLine(20, { images_per_sec: 160 })); // 640 images in 4 s
    expect(metrics.steps.imagesPerSec()).toBeCloseTo(1280 / 5, 9);
    expect(metrics.steps.medianImagesPerSec()).toBeCloseTo(160, 9);
    expect(metrics.progress.fraction).toBeCloseTo(20 / 300, 9);
  });

  it('tells of no end of a run of so many steps that it is stopped before', () => {
    const metrics = withSteps();
    metrics.add(startLine({ total_steps: endlessSteps }));
    for (const step of [10, 20, 30]) metrics.add(stepLine(step));
    expect(metrics.secondsPerStep).toBeGreaterThan(0);
    expect(metrics.secondsLeft).toBeUndefined();
    expect(metrics.progress).toMatchObject({ step: 30, totalSteps: undefined, fraction: undefined });
  });

  it('takes the progress from a checkpoint where that is newer than any step line', () => {
    const metrics = withSteps();
    metrics.add(startLine());
    for (const step of [4, 8]) metrics.add(checkpoint(step));
    expect(metrics.progress).toMatchObject({ step: 8, epoch: 8 / 25, fraction: 8 / 300 });
    metrics.add(stepLine(10));
    metrics.add(checkpoint(8)); // written late
    expect(metrics.progress.step).toBe(10);
    // The newer generation goes on from step 8.
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000008' }));
    expect([metrics.progress.step, metrics.trained]).toEqual([10, 1]);
    metrics.add(checkpoint(9, 2));
    expect([metrics.progress.step, metrics.trained]).toEqual([9, 2]);
  });

  it('counts what workers that do not wait for each other said, whatever step rank 0 has', () => {
    const metrics = withSteps();
    metrics.add(startLine());
    metrics.add(stepLine(10, { images_per_sec: 500, images: 1000 }));
    metrics.add(stepLine(20, { images_per_sec: 100, images: 300 }));
    expect(metrics.steps.imagesPerSec()).toBeCloseTo(1300 / 5, 9);
  });

  it('knows the servers of the newest line, and at the end those of the whole run', () => {
    const server = {
      rank: 2,
      host: 'h',
      parameters: 9,
      busy: 0.5,
      updates: 5,
      staleness: 1,
      staleness_max: 3,
    };
    const metrics = withSteps();
    metrics.add(startLine());
    expect(metrics.servers).toBeUndefined();
    metrics.add(stepLine(10, { servers: [server] }));
    expect(metrics.servers).toEqual([server]);
    const end = { kind: 'end', time: 9, generation: 1, step: 10, seconds: 1, images_per_sec: 5 } as const;
    metrics.add({ ...end, reason: 'finished', servers: [{ ...server, busy: 0.25 }] });
    expect(metrics.servers?.[0]?.busy).toBe(0.25);
  });

  it('has no figures before there are any', () => {
    const metrics = withSteps();
    expect(metrics.steps.imagesPerSec()).toBeUndefined();
    expect(metrics.steps.medianImagesPerSec()).toBeUndefined();
    expect(metrics.progress.fraction).toBeUndefined();
    expect(metrics.lastEvaluation).toBeUndefined();
    expect(metrics.best).toBeUndefined();
  });

  it('counts from the checkpoint that a run resumed from', () => {
    const metrics = withSteps();
    metrics.add(startLine({ resumed_from: 'step-00000100' }));
    metrics.add(stepLine(110, { images_per_sec: 640 }));
    metrics.add(stepLine(120, { images_per_sec: 320 }));
    expect(metrics.steps.imagesPerSec()).toBeCloseTo(1280 / 3, 9);
  });

  it('lets a newer generation supersede lines of equal or later step', () => {
    const metrics = withSteps();
    metrics.add(startLine());
    for (const step of [10, 20, 30, 40]) metrics.add(stepLine(step));
    metrics.add(evalLine(20, 0.6));
    metrics.add(evalLine(40, 0.9));
    metrics.add({ kind: 'checkpoint', time: 1, generation: 1, step: 20, path: 'p', bytes: 1, write_ms: 1 });
    metrics.add({ kind: 'checkpoint', time: 1, generation: 1, step: 40, path: 'p', bytes: 1, write_ms: 1 });
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000020' }));
    metrics.add(stepLine(30, { generation: 2, loss: 7 }));
    expect(metrics.lastStep).toMatchObject({ step: 30, generation: 2 });
    expect(metrics.best?.step).toBe(20);
    expect(metrics.checkpoints.count).toBe(1);
    expect(metrics.steps.imagesPerSec()).toBeCloseTo(640, 6);
    metrics.add(stepLine(40, { generation: 2 }));
    expect(metrics.lastStep?.step).toBe(40);
  });

  it('keeps one evaluation a step, the later one', () => {
    const metrics = withSteps();
    metrics.add(evalLine(40, 0.9));
    metrics.add(evalLine(20, 0.8));
    metrics.add(evalLine(40, 0.7));
    expect(metrics.lastEvaluation?.top1).toBe(0.7);
    expect(metrics.best?.top1).toBe(0.8);
  });

  it('of equal evaluations calls that of the lowest loss the best, else the newest, whenever it came', () => {
    const metrics = new RunMetrics();
    metrics.add(evalLine(40, 0.9));
    metrics.add(evalLine(20, 0.9));
    expect(metrics.best?.step).toBe(40);
    expect(metrics.lastEvaluation?.step).toBe(40);
    metrics.add({ ...evalLine(30, 0.9), loss: 0.1 });
    metrics.add({ ...evalLine(50, 0.9), loss: null });
    metrics.add({ ...evalLine(60, 0.8), loss: 0.05 });
    expect(metrics.best?.step).toBe(30);
    metrics.add({ ...evalLine(70, 0.91), loss: 9 });
    expect(metrics.best?.step).toBe(70);
  });

  it('keeps the best evaluation, and counts all checkpoints, however many there are', () => {
    const metrics = new RunMetrics();
    for (let step = 1; step <= 9000; step++) {
      metrics.add(evalLine(step, step === 7 ? 0.9 : 0.5));
      metrics.add(checkpoint(step));
    }
    expect(metrics.evaluations.all.length).toBeLessThanOrEqual(4000);
    expect(metrics.checkpoints.all.length).toBeLessThanOrEqual(4000);
    expect(metrics.best?.step).toBe(7);
    expect(metrics.lastEvaluation?.step).toBe(9000);
    expect(metrics.checkpoints.count).toBe(9000);
  });
});

describe('a restart', () => {
  it('supersedes what came after the step from which it goes on, as soon as it begins', () => {
    const metrics = begun(10, 20, 30, 40);
    metrics.add(evalLine(25, 0.9));
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000022' }));
    expect(metrics.best).toBeUndefined();
    expect(metrics.steps.slice().rows.step).toEqual([10, 20]);
    expect(metrics.progress.step).toBe(40); // until the new generation has made a step
    metrics.add(stepLine(30, { generation: 2, images_per_sec: 320 }));
    expect(metrics.progress.step).toBe(30);
    // 20 steps of 64 images at 640 images/s, and 8 of them at 320.
    expect(metrics.steps.imagesPerSec()).toBeCloseTo((28 * 64) / (2 + (8 * 64) / 320), 6);
  });

  it('begins with no checkpoint that it passes over, and keeps none of its steps', () => {
    const metrics = begun(10, 20, 30);
    metrics.add(checkpoint(10));
    metrics.add(checkpoint(30));
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000010' }));
    metrics.add({ ...about(30, 2), kind: 'checkpoint_passed_over', reason: 'damaged' });
    metrics.add(stepLine(20, { generation: 2 }));
    expect(metrics.steps.slice().rows.step).toEqual([10, 20]);
    expect(metrics.checkpoints.all.map(({ step }) => step)).toEqual([10]);
  });

  it('supersedes what comes late of an older generation, and only that of repeated steps', () => {
    const metrics = begun(10, 20, 30, 40);
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000020' }));
    metrics.add(stepLine(30, { generation: 2 }));
    metrics.add(evalLine(40, 0.9));
    metrics.add(stepLine(40));
    metrics.add(startLine());
    expect(metrics.best).toBeUndefined();
    expect(metrics.lastStep).toMatchObject({ step: 30, generation: 2 });
    expect(metrics.start?.generation).toBe(2);
    metrics.add(evalLine(20, 0.6));
    expect(metrics.best?.step).toBe(20);
  });

  it('leaves an evaluation that began after the newer generation had written the checkpoint', () => {
    const metrics = begun(10, 20, 30, 40);
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000020' }));
    metrics.add({ ...checkpoint(40, 2), time: 100 });
    // Of the first generation's checkpoint.
    metrics.add(evalLine(40, 0.9, { time: 101, seconds: 2 }));
    expect(metrics.best).toBeUndefined();
    metrics.add(evalLine(40, 0.8, { time: 103, seconds: 2 })); // by hand, which names generation 1
    expect(metrics.best?.top1).toBe(0.8);
  });

  it('holds for each generation what all newer ones superseded', () => {
    const metrics = begun(10, 20, 30, 40);
    metrics.add(startLine({ generation: 2, resumed_from: 'step-00000020' }));
    metrics.add(startLine({ generation: 3, resumed_from: 'step-00000030' }));
    metrics.add(evalLine(30, 0.9)); // the first generation's step 30 was repeated by the second
    expect(metrics.best).toBeUndefined();
    metrics.add(evalLine(30, 0.8, { generation: 2 }));
    expect(metrics.best?.top1).toBe(0.8);
    metrics.add(startLine({ generation: 4, resumed_from: 'step-00000010' }));
    metrics.add(evalLine(20, 0.7, { generation: 3 }));
    metrics.add(evalLine(20, 0.7));
    expect(metrics.best).toBeUndefined();
  });

  it('whose start line is lost begins with its first step or checkpoint', () => {
    const byStep = begun(10, 20, 30, 40);
    byStep.add(stepLine(30, { generation: 2 }));
    expect(byStep.steps.slice().rows.step).toEqual([10, 20, 30]);
    expect(byStep.steps.imagesPerSec()).toBeCloseTo(640, 6);
    const byCheckpoint = begun(10, 20, 30, 40);
    byCheckpoint.add(checkpoint(25, 2));
    expect(byCheckpoint.steps.slice().rows.step).toEqual([10, 20]);
    const byName = begun(10, 20, 30, 40);
    byName.add(startLine({ generation: 2, resumed_from: 'elsewhere' }));
    expect(byName.steps.length).toBe(4);
    byName.add(stepLine(20, { generation: 2 }));
    expect(byName.steps.slice().rows.step).toEqual([10, 20]);
  });

  it('without a new generation is one where steps come again', () => {
    const metrics = begun(10, 20, 30);
    metrics.add(startLine({ resumed_from: 'step-00000010' }));
    metrics.add(stepLine(20));
    expect(metrics.steps.slice().rows.step).toEqual([10, 20]);
    metrics.add(stepLine(20, { images_per_sec: 5 }));
    expect(metrics.steps.slice().rows.imagesPerSec).toEqual([640, 5]);
  });
});

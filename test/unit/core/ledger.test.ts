import { describe, expect, it } from 'vitest';
import { MetricsLedger } from '../../../src/core/metrics/ledger.js';
import { evalLine, startLine, stepLine } from '../support/lines.js';

describe('MetricsLedger', () => {
  it('counts all images over all time, not the mean of the rates', () => {
    const ledger = new MetricsLedger();
    ledger.add(startLine());
    ledger.add(stepLine(10, { images_per_sec: 640 })); // 640 images in 1 s
    ledger.add(stepLine(20, { images_per_sec: 160 })); // 640 images in 4 s
    expect(ledger.imagesPerSec).toBeCloseTo(1280 / 5, 9);
    expect(ledger.medianImagesPerSec).toBeCloseTo(160, 9);
    expect(ledger.progress).toBeCloseTo(20 / 300, 9);
  });

  it('counts what workers that do not wait for each other said, whatever step rank 0 has', () => {
    const ledger = new MetricsLedger();
    ledger.add(startLine());
    ledger.add(stepLine(10, { images_per_sec: 500, images: 1000 }));
    ledger.add(stepLine(20, { images_per_sec: 100, images: 300 }));
    expect(ledger.imagesPerSec).toBeCloseTo(1300 / 5, 9);
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
    const ledger = new MetricsLedger();
    ledger.add(startLine());
    expect(ledger.servers).toBeUndefined();
    ledger.add(stepLine(10, { servers: [server] }));
    expect(ledger.servers).toEqual([server]);
    const end = { kind: 'end', time: 9, generation: 1, step: 10, seconds: 1, images_per_sec: 5 } as const;
    ledger.add({ ...end, reason: 'finished', servers: [{ ...server, busy: 0.25 }] });
    expect(ledger.servers?.[0]?.busy).toBe(0.25);
  });

  it('has no figures before there are any', () => {
    const ledger = new MetricsLedger();
    expect(ledger.imagesPerSec).toBeUndefined();
    expect(ledger.medianImagesPerSec).toBeUndefined();
    expect(ledger.progress).toBeUndefined();
    expect(ledger.lastEval).toBeUndefined();
    expect(ledger.bestEval).toBeUndefined();
  });

  it('counts from the checkpoint that a run resumed from', () => {
    const ledger = new MetricsLedger();
    ledger.add(startLine({ resumed_from: 'step-00000100' }));
    ledger.add(stepLine(110, { images_per_sec: 640 }));
    ledger.add(stepLine(120, { images_per_sec: 320 }));
    expect(ledger.imagesPerSec).toBeCloseTo(1280 / 3, 9);
  });

  it('lets a newer generation supersede lines of equal or later step', () => {
    const ledger = new MetricsLedger();
    ledger.add(startLine());
    for (const step of [10, 20, 30, 40]) ledger.add(stepLine(step));
    ledger.add(evalLine(20, 0.6));
    ledger.add(evalLine(40, 0.9));
    ledger.add({ kind: 'checkpoint', time: 1, generation: 1, step: 20, path: 'p', bytes: 1, write_ms: 1 });
    ledger.add({ kind: 'checkpoint', time: 1, generation: 1, step: 40, path: 'p', bytes: 1, write_ms: 1 });
    ledger.add(startLine({ generation: 2, resumed_from: 'step-00000020' }));
    ledger.add(stepLine(30, { generation: 2, loss: 7 }));
    expect(ledger.lastStep).toMatchObject({ step: 30, generation: 2 });
    expect(ledger.bestEval?.step).toBe(20);
    expect(ledger.checkpointsWritten).toBe(1);
    expect(ledger.imagesPerSec).toBeCloseTo(640, 6);
    ledger.add(stepLine(40, { generation: 2 }));
    expect(ledger.lastStep?.step).toBe(40);
  });

  it('keeps one evaluation a step, the later one', () => {
    const ledger = new MetricsLedger();
    ledger.add(evalLine(40, 0.9));
    ledger.add(evalLine(20, 0.8));
    ledger.add(evalLine(40, 0.7));
    expect(ledger.lastEval?.top1).toBe(0.7);
    expect(ledger.bestEval?.top1).toBe(0.8);
  });
});

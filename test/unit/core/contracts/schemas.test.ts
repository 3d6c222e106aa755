// The examples of docs/contracts/*.md, and what must not pass.
import { describe, expect, it } from 'vitest';
import { checkpointStateSchema, manifestSchema } from '../../../../src/core/contracts/checkpointSchema.js';
import { gpuSchema, hostSampleSchema, parseMetric } from '../../../../src/core/contracts/metricsSchema.js';
import {
  exitRecordSchema,
  heartbeatSchema,
  parseEvent,
  runFileSchema,
  stateSchema,
  stopSchema,
} from '../../../../src/core/contracts/runSchema.js';
import { check, demand } from '../../../../src/core/base/validation.js';
import { evalLine, hostLine, startLine, stepLine } from '../../support/lines.js';

const run = {
  version: 1,
  id: '20261121-104500-resnet20-1f2e',
  created: 1795258500.1,
  profile: { name: 'local', kind: 'local' },
  program: 'trainer',
  argv: ['train', '--model', 'resnet20'],
  ranks: 2,
  threadsPerRank: 1,
  env: { K: 'V' },
  evaluator: { argv: ['eval', '--data', '/d'], threads: 1, nice: 19 },
  tensorboard: true,
  paths: { trainer: '/t', mpiexec: '/m', agent: '/a', python: '/p', tensorboardServer: '/s.py' },
  hashes: { trainer: 'a', agent: 'b', requirements: 'c' },
  limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
  launcher: 'fork',
  totalSteps: null,
};
const state = {
  version: 1,
  phase: 'running',
  generation: 1,
  world: 2,
  supervisor: { pid: 1, startTime: 123456, bootId: 'b', host: 'h' },
  ranks: [{ rank: 0, host: 'h', pid: 2, startTime: 5 }],
  mpiexec: { pid: 3, startTime: 6 },
  evaluator: null,
  started: 1.5,
  ended: null,
  exitCode: null,
  reason: null,
  updated: 2,
};

describe('run files', () => {
  it('as in the contracts pass, with fields of a newer version', () => {
    expect(check(runFileSchema, run).ok).toBe(true);
    expect(check(stateSchema, { ...state, weather: 'fine' }).ok).toBe(true);
    expect(check(stopSchema, { mode: 'now', time: 1, by: 'me@host' }).ok).toBe(true);
  });

  it.each([
    [runFileSchema, { ...run, version: 2 }],
    [runFileSchema, { ...run, argv: [] }],
    [runFileSchema, { ...run, ranks: 0 }],
    [runFileSchema, { ...run, evaluator: undefined }],
    [stateSchema, { ...state, phase: 'asleep' }],
    [stateSchema, { ...state, supervisor: { pid: 1 } }],
    [stateSchema, { ...state, started: '2026' }],
    [stopSchema, { mode: 'later', time: 1, by: 'me' }],
  ])('that are wrong do not (%#)', (schema, value) => {
    expect(check(schema, value).ok).toBe(false);
  });
});

describe('events', () => {
  const at = { time: 1, generation: 1 };
  it.each([
    { ...at, kind: 'created', id: 'x' },
    { ...at, kind: 'started', world: 2, argv: ['train'] },
    { ...at, kind: 'rank_started', rank: 0, host: 'h', pid: 4 },
    { ...at, kind: 'rank_exited', rank: 0, host: 'h', pid: 4, exit_code: null, signal: 9, last_step: 120 },
    { ...at, kind: 'hang', ranks: [1], last_step: 3 },
    { ...at, kind: 'hang', ranks: [1], doing: [{ rank: 1, host: 'h', what: 'is stopped' }], last_step: 3 },
    { ...at, kind: 'stop_requested', mode: 'checkpoint', by: 'me@h' },
    { ...at, kind: 'checkpoint', step: 5, path: 'checkpoints/step-00000005', bytes: 9 },
    { ...at, kind: 'checkpoint_failed', step: 5, message: 'No space left on device' },
    { ...at, kind: 'checkpoint_passed_over', step: 5, path: 'checkpoints/step-00000005', reason: 'damaged' },
    { ...at, kind: 'evaluator_started', pid: 4 },
    { ...at, kind: 'evaluator_exited', pid: 4, exit_code: 0, signal: null },
    { ...at, kind: 'tensorboard_started', pid: 4, socket: '/s' },
    { ...at, kind: 'tensorboard_exited', pid: 4, exit_code: 0 },
    { ...at, kind: 'disk_low', free_bytes: 5 },
    { ...at, kind: 'finished', phase: 'failed', exit_code: 3, reason: 'no data', seconds: 1.5 },
  ])('$kind passes', (event) => {
    expect(parseEvent(event)).toEqual(event);
  });

  it('of an unknown kind, or without time, do not', () => {
    expect(() => parseEvent({ ...at, kind: 'lunch' })).toThrow(TypeError);
    expect(() => parseEvent({ generation: 1, kind: 'created', id: 'x' })).toThrow(/time/);
  });
});

describe('metrics', () => {
  const at = { time: 1, generation: 1, step: 5 };
  it.each([
    startLine(),
    stepLine(120),
    stepLine(120, { loss: null }),
    evalLine(120, 0.9),
    { ...at, kind: 'checkpoint', path: 'checkpoints/step-00000005', bytes: 1, write_ms: 2.5 },
    { ...at, kind: 'checkpoint_failed', message: 'm' },
    { ...at, kind: 'checkpoint_passed_over', path: 'checkpoints/step-00000005', reason: 'damaged' },
    { ...at, kind: 'host', rank: 0, host: 'h', device: 'cpu', memory_used: 1, memory_peak: 2 },
    hostLine(5, 3, { compute_ms: 41.2, comm_ms: 0, input_wait_ms: 0.125 }),
    { time: 1, generation: 1, kind: 'bad_image', path: 'p', message: 'm', count: 1 },
    { ...at, kind: 'end', seconds: 1, images_per_sec: 2, reason: 'stopped' },
  ])('$kind passes', (line) => {
    expect(parseMetric(line)).toEqual(line);
  });

  it('name the field that is wrong', () => {
    expect(() => parseMetric({ ...stepLine(1), step: 1.5 })).toThrow(/step/);
    expect(() => parseMetric({ ...stepLine(1), images_per_sec: '5' })).toThrow(/images_per_sec/);
  });
});

describe('small files', () => {
  it('pass as in the contracts', () => {
    const sha256 = 'a'.repeat(64);
    const files = [{ name: 'model.safetensors', bytes: 5, sha256 }];
    demand(manifestSchema, { version: 1, step: 120, time: 1, model: 'mlp', classes: 5, files }, 'manifest');
    demand(heartbeatSchema, { step: 120, time: 1, phase: 'training' }, 'heartbeat');
    const exit = {
      rank: 0,
      host: 'h',
      pid: 5,
      exit_code: 0,
      signal: null,
      last_step: 300,
      started: 1,
      ended: 2,
    };
    demand(exitRecordSchema, { ...exit, last_line: 'trainer: error: x.' }, 'exit record');
    const schedule = { kind: 'cosine', base_lr: 0.1, warmup_steps: 5, total_steps: 300 };
    const counts = {
      step: 120,
      generation: 1,
      seed: 1,
      world: 2,
      batch_size: 32,
      global_batch: 64,
      samples_seen: 7680,
    };
    const data = {
      classes: 1,
      class_names: ['circle'],
      image_size: 32,
      dataset_images: 1600,
      augment: 'standard',
    };
    const rest = { version: 1, model: 'resnet20', optimizer: 'sgd', total_steps: 300, schedule };
    demand(checkpointStateSchema, { ...counts, ...data, ...rest }, 'state');
  });

  it('do not with a hash that is none', () => {
    const files = [{ name: 'model.safetensors', bytes: 5, sha256: 'abc' }];
    expect(check(manifestSchema, { version: 1, step: 1, time: 1, model: 'm', classes: 1, files }).ok).toBe(
      false,
    );
  });

  it('a sample without GPUs, and a GPU that does not tell its power', () => {
    const host = {
      time: 1,
      host: 'h',
      cpu_percent: 12.5,
      memory_used: 1,
      memory_total: 2,
      disk_free: 3,
      gpus: [],
    };
    expect(check(hostSampleSchema, host).ok).toBe(true);
    const gpu = {
      index: 0,
      uuid: 'u',
      name: 'H100',
      memory_used: 1,
      memory_total: 2,
      utilization: 97,
      temperature: 64,
    };
    expect(check(gpuSchema, { ...gpu, power_watts: null, processes: [] }).ok).toBe(true);
  });
});

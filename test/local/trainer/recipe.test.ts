// The recipe through the trainer's command line: what each flag does to weights, and what is
// refused by name.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMetric } from '../../../src/core/contracts/metricsSchema.js';
import {
  checkpointName,
  expectExit,
  lastOnly,
  fingerprint,
  killTrainerAt,
  readLines,
  readTensors,
  relativeDistance,
  runRanks,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
} from '../../support/harness.js';

const folder = temporaryFolder('recipe');
const data = join(folder.path, 'data');
const run = (name: string): string => join(folder.path, name);
const checkpoint = (name: string, step: number): string =>
  join(run(name), 'checkpoints', checkpointName(step));
const weights = (name: string, step: number): ReturnType<typeof readTensors> =>
  readTensors(join(checkpoint(name, step), 'model.safetensors'));
const metrics = (name: string): ReturnType<typeof readLines> => readLines(join(run(name), 'metrics.jsonl'));

const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    'train',
    '--model',
    'mlp',
    '--data',
    join(data, 'train'),
    '--run-dir',
    run(name),
    '--log-every',
    '1',
    ...more,
  ]);

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:3x80', '--to', data]), 0);
});
afterAll(folder.remove);

describe('micro-batches', () => {
  it('two of batch B on each of two ranks equal one batch of 4B, each tensor within 1e-6 by norm', async () => {
    // Clipping comes after the sum over ranks, so it cuts both the same.
    const steps = ['--steps', '6', '--lr', '0.5', '--clip-norm', '0.5', '--label-smoothing', '0.1'];
    expectExit(await runRanks(2, training('parts', ...steps, '--batch-size', '8', '--accumulate', '2')), 0);
    expectExit(await runTrainer(training('whole', ...steps, '--batch-size', '32')), 0);
    const whole = weights('whole', 6);
    const parts = weights('parts', 6);
    expect([...parts.keys()]).toEqual([...whole.keys()]);
    for (const [name, { values }] of whole) {
      expect(relativeDistance(parts.get(name)?.values ?? new Float32Array(), values), name).toBeLessThan(
        1e-6,
      );
    }
    const plan = metrics('parts').find(({ kind }) => kind === 'start');
    expect(plan).toMatchObject({ batch_size: 8, accumulate: 2, global_batch: 32 });
    for (const line of metrics('parts').map(parseMetric)) {
      if (line.kind === 'step') expect(line.gradient_norm).toBeGreaterThan(0.5);
    }
  });
});

describe.each(['lars', 'adam', 'adamw'])('%s', (optimizer) => {
  const steps = 80;
  const args = (name: string): string[] =>
    training(
      name,
      ...[
        '--optimizer',
        optimizer,
        '--batch-size',
        '12',
        '--steps',
        String(steps),
        '--checkpoint-every',
        '3',
      ],
      ...['--accumulate', '2', '--clip-norm', '5', '--label-smoothing', '0.1', '--lr-schedule', 'poly'],
      ...['--augment', 'trivial', '--random-erasing', '0.25'],
    );

  it('goes on bit for bit after SIGKILL, and says how long gradients are', async () => {
    expectExit(await runTrainer(args(`${optimizer}-alone`)), 0);
    await killTrainerAt(args(`${optimizer}-killed`), checkpoint(`${optimizer}-killed`, 9));
    expectExit(await runTrainer(args(`${optimizer}-killed`)), 0);
    expect(fingerprint(run(`${optimizer}-killed`), steps)).toBe(
      fingerprint(run(`${optimizer}-alone`), steps),
    );
    const lines = metrics(`${optimizer}-killed`).map(parseMetric);
    const resumed = lines.filter((line) => line.kind === 'start').at(-1);
    expect(resumed?.optimizer).toBe(optimizer);
    for (const line of lines) if (line.kind === 'step') expect(line.gradient_norm).toBeGreaterThan(0);
    expect(resumed?.resumed_from).toMatch(/^step-/);
  });

  it('is not resumed by another optimizer', async () => {
    const other = await runTrainer(training(`${optimizer}-alone`, '--batch-size', '12', '--accumulate', '2'));
    expectExit(other, 2);
    expect(other.stderr).toMatch(new RegExp(`another optimizer .*${optimizer}.*sgd`));
  });
});

describe('usage', () => {
  it.each([
    ['--beta1', ['--beta1', '0.8'], '--optimizer adam or adamw'],
    ['--epsilon', ['--optimizer', 'lars', '--epsilon', '1e-3'], '--optimizer adam or adamw'],
    ['--trust-coefficient', ['--trust-coefficient', '0.01'], '--optimizer lars'],
    ['--momentum', ['--optimizer', 'adamw', '--momentum', '0.9'], '--optimizer sgd or lars'],
    ['--lr-steps', ['--lr-steps', '1,2'], '--lr-schedule step'],
    ['--lr-steps', ['--lr-schedule', 'step', '--lr-steps', '1,two'], 'two'],
    ['--early-stop', ['--early-stop', '3'], '--eval-data'],
    ['--clip-norm', ['--clip-norm', '-1'], 'from 0 to'],
    ['--optimizer', ['--optimizer', 'radam'], 'adamw'],
    ['--augment', ['--augment', 'randaugment'], 'trivial'],
    ['--random-erasing', ['--random-erasing', '1.5'], 'from 0 to 1'],
  ])('%s out of place is named', async (flag, words, cure) => {
    const outcome = await runTrainer(training('usage', ...words));
    expectExit(outcome, 2);
    const [line = ''] = outcome.stderr.split('\n').filter((text) => text.startsWith('trainer: error:'));
    expect(line).toContain(flag);
    expect(line).toContain(cure);
    expect(existsSync(run('usage'))).toBe(false);
  });
});

describe('weights to start from', () => {
  it('a last layer of other classes is made new and said so; another model is refused by name', async () => {
    const source = ['--steps', '4', '--batch-size', '16'];
    expectExit(await runTrainer(training('source', ...source)), 0);
    const file = join(checkpoint('source', 4), 'model.safetensors');
    const tuned = (name: string, ...more: string[]): string[] =>
      ['train', '--data', 'synthetic:6x32', '--run-dir', run(name), '--init-weights', file].concat(
        ['--steps', '1', '--batch-size', '8', '--lr', '1e-9', '--log-every', '1'],
        more,
      );
    const outcome = await runTrainer(tuned('tuned', '--model', 'mlp'));
    expectExit(outcome, 0);
    expect(outcome.stderr).toContain('fc3.weight, fc3.bias start anew');
    expect(metrics('tuned').find(({ kind }) => kind === 'start')).toMatchObject({
      classes: 6,
      made_new: ['fc3.weight', 'fc3.bias'],
    });
    const taken = weights('tuned', 1);
    for (const [name, { values }] of weights('source', 4)) {
      const now = taken.get(name);
      if (name.startsWith('fc3.')) expect(now?.shape[0]).toBe(6);
      else expect(relativeDistance(now?.values ?? new Float32Array(), values), name).toBeLessThan(1e-6);
    }
    const refused = await runTrainer(tuned('refused', '--model', 'resnet20'));
    expectExit(refused, 3);
    expect(refused.stderr).toMatch(
      /does not fit the model: it lacks conv1\.weight.*the model has no fc1\.weight/,
    );
  });
});

describe('numbers that are no longer finite', () => {
  it('end the run by step, tensor and last good checkpoint', async () => {
    expectExit(await runTrainer(training('astray', '--steps', '2', '--batch-size', '16')), 0);
    const outcome = await runTrainer(
      training('astray', '--steps', '30', '--batch-size', '16', '--lr', '1e6', '--checkpoint-every', '1'),
    );
    expectExit(outcome, 3);
    const [line = ''] = outcome.stderr.split('\n').filter((text) => text.startsWith('trainer: error:'));
    expect(line).toMatch(/step \d+ (is not a finite number|are not finite numbers)/);
    const [, good = ''] = /The last good checkpoint is (\S+)\. /.exec(line) ?? [];
    expect(existsSync(join(good, 'manifest.json'))).toBe(true);
    for (const { values } of readTensors(join(good, 'model.safetensors')).values()) {
      expect(values.every((value) => Number.isFinite(value))).toBe(true);
    }
  });
});

describe('early stop', () => {
  it('ends a run that evaluation finds no better, long before its last step', async () => {
    const validation = join(data, 'validation');
    const evaluator = start(trainer, [
      ...['eval', '--run-dir', run('early'), '--data', validation, '--interval', '0.05'],
    ]);
    const steps = 1_000_000;
    const outcome = await runTrainer(
      training(
        'early',
        ...['--eval-data', validation, '--batch-size', '16', '--steps', String(steps), '--lr', '1e-12'],
        ...['--log-every', '50', '--checkpoint-every', '20', '--early-stop', '2'],
      ),
    );
    evaluator.child.kill('SIGTERM');
    await evaluator.ended;
    expectExit(outcome, 0);
    const end = metrics('early').find(({ kind }) => kind === 'end');
    expect(end).toMatchObject({ reason: 'finished', early_stop: true });
    const last = Number(end?.['step']);
    expect(last).toBeLessThan(steps);
    expect(existsSync(join(checkpoint('early', last), 'manifest.json'))).toBe(true);
    expect(metrics('early').filter(({ kind }) => kind === 'eval').length).toBeGreaterThanOrEqual(3);
  });
});

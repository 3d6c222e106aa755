import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { runFromCheckpoint } from '../../../../src/core/checkpoints/begin.js';
import { checkpointChoice } from '../../../../src/core/checkpoints/choose.js';
import { localProfile, type Profile } from '../../../../src/core/contracts/profileSchema.js';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
import { originOf, withFlags } from '../../../../src/core/plan/origin.js';

const dir = nodePath('/w/runs/20261121-104500-mlp-1f2e');
const words = ['train', '--model', 'mlp', '--decay-norm-and-bias', '--epochs=3', '--lr', '0.1'];
const recorded = (more: object = {}): RunFile =>
  ({
    ...{ program: 'trainer', argv: [...words, '--device', 'cpu'], ranks: 2, tensorboard: false },
    ...{ paths: { trainer: '/n/trainer' }, evaluator: null, limits: {}, ...more },
  }) as RunFile;
const from = (changes: string[], more: object = {}): readonly string[] =>
  runFromCheckpoint(
    { id: 'r', dir, run: recorded(more) },
    { path: 'checkpoints/step-00000060' },
    localProfile,
    changes,
  ).words;
const weights = ['--init-weights', `${dir}/checkpoints/step-00000060/model.safetensors`];

describe('a run from a checkpoint', () => {
  it('has the command of the earlier run, on its device, with the weights', () => {
    expect(from([])).toEqual([...words, '--device', 'cpu', ...weights]);
    expect(originOf(from([]))).toEqual({ dir, step: 60 });
  });

  it('takes other flags in place of the same ones, and steps in place of epochs', () => {
    expect(from(['--steps', '5', '--lr=0.01', '--decay-norm-and-bias'])).toEqual([
      ...['train', '--model', 'mlp', '--device', 'cpu'],
      ...['--steps', '5', '--lr=0.01', '--decay-norm-and-bias', ...weights],
    ]);
    expect(from(['train', '--model', 'mlp'])).toEqual(['train', '--model', 'mlp', ...weights]);
  });

  it('forgets from where the earlier run began, and its folder', () => {
    const argv = ['train', '--init-weights', '/old.safetensors', '--resume', 'none', '--seed', '3'];
    expect(from([], { argv })).toEqual(['train', '--seed', '3', '--device', 'cpu', ...weights]);
  });

  it('has budget and time limit of the earlier run, and what it asked of Slurm, where they still count', () => {
    const budget = { amount: 5, warnAt: 0.8, stop: true };
    const run = recorded({
      budget,
      limits: { timeLimit: 90 },
      slurm: { asked: { qos: 'high' }, requeue: false, layout: [{ slots: 1, gpus: 0 }] },
    });
    const on = (profile: Profile): object =>
      runFromCheckpoint({ id: 'r', dir, run }, { path: 'checkpoints/step-00000060' }, profile);
    const hpc: Profile = { name: 'hpc', kind: 'slurm', hosts: [{ host: 'a' }], pricePerNodeHour: 2 };
    expect(on(localProfile)).toMatchObject({ timeLimit: 90 });
    expect(on(hpc)).toMatchObject({ timeLimit: 90, budget: 5, budgetStop: true, slurm: { qos: 'high' } });
    for (const wish of ['slurm', 'budget', 'budgetStop']) expect(on(localProfile)).not.toHaveProperty(wish);
  });

  it('is refused of an own program, of another verb and without a record', () => {
    const own = { program: 'command', argv: ['python3', 'train.py'] };
    expect(() => from([], own)).toThrow('is no training by our trainer');
    expect(() => from(['eval', '--data', 'x'])).toThrow('not "eval"');
    expect(() =>
      runFromCheckpoint({ id: 'r', dir, run: null }, { path: 'checkpoints/step-00000060' }, localProfile),
    ).toThrow('no run.json');
  });
});

it('a file of a checkpoint is known by its path alone', () => {
  const named = (path: string): unknown => originOf(['train', `--init-weights=${path}`]);
  expect(named('~/runs/a/checkpoints/step-123456789/model.safetensors')).toEqual({
    dir: '~/runs/a',
    step: 123456789,
  });
  expect(named('/models/resnet.safetensors')).toBeUndefined();
  expect(originOf(['train'])).toBeUndefined();
});

it('flags that are given leave the words of others alone', () => {
  expect(withFlags(['train', '--flag', '--lr', '1'], ['--flag'])).toEqual(['train', '--lr', '1', '--flag']);
  expect(withFlags(['train', '--lr', '1'], [])).toEqual(['train', '--lr', '1']);
});

it('a checkpoint is named by step, latest or best', () => {
  expect(['60', 'latest', 'best'].map(checkpointChoice)).toEqual([60, 'latest', 'best']);
  for (const text of ['', '-1', '6.5', 'newest']) expect(() => checkpointChoice(text)).toThrow(UserError);
});

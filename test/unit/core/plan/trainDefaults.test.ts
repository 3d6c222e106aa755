// What a profile adds to a training, and what goes before it.
import { expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import {
  addedDefaults,
  trainDefaultsText,
  withTrainDefaults,
} from '../../../../src/core/plan/request/trainDefaults.js';

const flags = ['--threads', '1', '--allreduce', 'ring', '--precision=bf16'];
const profile = (more: Profile['train'] = { ranks: 2, flags }): Profile => ({
  name: 'lab',
  kind: 'local',
  train: more,
});
const train = ['train', '--model', 'mlp'];
const added = (run: Parameters<typeof addedDefaults>[0], more?: Profile['train']): unknown =>
  addedDefaults(run, profile(more));

it('adds ranks and flags where the training leaves them open', () => {
  expect(withTrainDefaults({ words: train }, profile())).toEqual({
    words: ['train', ...flags, '--model', 'mlp'],
    ranks: 2,
  });
  expect(withTrainDefaults({ words: ['trainer', ...train] }, profile()).words.slice(0, 3)).toEqual([
    ...['trainer', 'train', '--threads'],
  ]);
});

it('lets the run go before, by the choice that its flags belong to', () => {
  expect(added({ words: [...train, '--precision', 'fp32'] })).toEqual({ ranks: 2, flags: flags.slice(0, 4) });
  const sumsAlone = { flags: ['--allreduce', 'ring', '--precision=bf16'] };
  expect(added({ words: train, ranks: 4 })).toEqual(sumsAlone);
  expect(added({ words: train, nodes: 1 })).toEqual(sumsAlone);
  expect(added({ words: train, hosts: ['a'] })).toEqual(sumsAlone);
  expect(added({ words: [...train, '--threads=2'] })).toEqual(sumsAlone);
  const ranksAlone = { ranks: 2, flags: ['--threads', '1', '--precision=bf16'] };
  expect(added({ words: [...train, '--strategy', 'central-storage'] })).toEqual(ranksAlone);
});

it('adds no servers to ranks that the run names itself', () => {
  const served = { ranks: 4, flags: ['--strategy', 'parameter-server', '--servers', '1'] };
  expect(added({ words: train }, served)).toEqual(served);
  expect(added({ words: train, ranks: 1 }, served)).toBeUndefined();
});

it('leaves alone what is no training, or goes on in a folder', () => {
  expect(added({ words: ['eval', '--once'] })).toBeUndefined();
  expect(added({ words: ['python', 'train'] })).toBeUndefined();
  expect(added({ words: [...train, '--run-dir', '/runs/1'] })).toBeUndefined();
  const run = { words: train };
  expect(withTrainDefaults(run, { name: 'lab', kind: 'local' })).toBe(run);
});

it('says what they are', () => {
  expect(trainDefaultsText({ ranks: 2, flags: ['--threads', '1'], why: 'measured' })).toBe(
    '2 ranks, --threads 1 (measured)',
  );
});

// What a bake-off tries, and what it leaves out.
import { expect, it } from 'vitest';
import {
  candidateName,
  candidatesOf,
  sameAsUsual,
  triable,
  triedOf,
  type Candidate,
} from '../../../../src/core/bakeoff/candidates.js';
import { parseTrainerHelp } from '../../../../src/core/plan/request/trainerHelp.js';

const flags = parseTrainerHelp(`
  --strategy TEXT:{auto,mirrored,multi-worker,central-storage,parameter-server,parameter-server-async}=auto
                              who keeps variables
  --allreduce TEXT:{auto,ring,tree,hierarchical}=auto
                              how sums go
  --gradient-type TEXT:{fp32,bf16}=fp32
                              how gradients travel
  --bucket-size FLOAT:0.0625..1024=4
                              MiB
  --threads INT:1..1024=1
                              of loops
`);
const train = ['train', '--model', 'resnet20', '--data', 'synthetic', '--device', 'cpu'];
const room = { ranks: [1, 2], slots: 2, cores: 4 };
const namesOf = (candidates: readonly Candidate[]): string[] => candidates.map(candidateName);
const whyOf = (words: readonly string[], what: string, tried = triedOf('strategy,allreduce')): string[] =>
  candidatesOf(words, flags, { ...room, ranks: [2] }, tried)
    .leftOut.filter((each) => each.what.includes(what))
    .map(({ why }) => why);

it('tries every number of ranks with what suits it, the usual settings first', () => {
  const { candidates } = candidatesOf(train, flags, room);
  expect(namesOf(candidates).slice(0, 4)).toEqual([
    ...['2 ranks, 2 threads', '2 ranks, 1 thread', '1 rank, 4 threads', '1 rank, 2 threads'],
  ]);
  // 3 all-reduce kinds x 4 bucket sizes, and 2 strategies, each with 2 and 1 threads.
  expect(candidates.filter(({ ranks }) => ranks === 2)).toHaveLength(28);
  expect(candidates.filter(({ ranks }) => ranks === 1)).toHaveLength(2);
  expect(new Set(namesOf(candidates)).size).toBe(candidates.length);
});

it('tries what learns otherwise only where that is asked for', () => {
  const usual = namesOf(candidatesOf(train, flags, room).candidates).join('\n');
  expect(usual).not.toMatch(/bf16|async/);
  const all = namesOf(candidatesOf(train, flags, room, triable).candidates).join('\n');
  expect(all).toMatch(/allreduce ring, gradient-type bf16/);
  expect(all).toContain('strategy parameter-server-async');
});

it('leaves out what cannot be or comes to the same, with the reason', () => {
  expect(whyOf(train, 'hierarchical')).toEqual(['it is for several nodes']);
  expect(whyOf(train, 'strategy mirrored')).toEqual(['auto takes it']);
  expect(whyOf([...train, '--precision', 'fp16'], 'parameter-server')[0]).toContain('fp16');
  expect(whyOf([...train, '--allreduce', 'ring'], 'central-storage')[0]).toContain('names allreduce');
  expect(whyOf([...train, '--allreduce', 'ring'], 'another allreduce')).toEqual([
    'the training names its own',
  ]);
  expect(whyOf([...train, '--comm', 'none'], 'strategies')).toEqual(['the ranks do not talk']);
  const onNodes = candidatesOf(train, flags, { ranks: [8], slots: 4, cores: 4 }, ['allreduce']);
  expect(onNodes.leftOut[0]?.why).toBe('it is what auto takes there');
  const cuda = candidatesOf([...train.slice(0, -1), 'cuda'], flags, room, ['ranks', 'threads']);
  expect(namesOf(cuda.candidates)).toEqual(['2 ranks', '1 rank']);
});

it('knows which bucket sizes are the same once it knows the gradients', () => {
  const bucket = (size: string): Candidate => ({ ranks: 2, flags: ['--bucket-size', size] });
  const mib = 2 ** 20;
  expect(sameAsUsual(bucket('16'), 2 * mib)).toContain('all 2.00 MiB');
  expect(sameAsUsual(bucket('1'), 2 * mib)).toBeUndefined();
  expect(sameAsUsual(bucket('16'), 8 * mib)).toBeUndefined();
  expect(sameAsUsual({ ranks: 2, flags: [] }, mib)).toBeUndefined();
});

it('refuses to try what there is not', () => {
  expect(triedOf('allreduce, ranks')).toEqual(['ranks', 'allreduce']);
  expect(() => triedOf('rank')).toThrow('Did you mean ranks?');
});

import { describe, expect, it } from 'vitest';
import { parseTrainerHelp } from '../../../../src/core/plan/request/trainerHelp.js';
import { axesOf } from '../../../../src/core/sweep/grid.js';
import { assertPlaces, assertTrial, wordsOfTrial } from '../../../../src/core/sweep/trialWords.js';

const flags = parseTrainerHelp(
  [
    '  --lr FLOAT:>0..1000 The rate',
    '  --batch-size INT:1..1024=32 Of each rank',
    '  --nesterov Momentum as Nesterov has it',
    '  --data TEXT Images',
    '  --run-dir TEXT Where',
  ].join('\n'),
);
const train = ['train', '--data', 'synthetic'];

describe('a training by our trainer', () => {
  it('gets its values as flags behind the others', () => {
    expect(wordsOfTrial(train, { lr: '0.1', nesterov: 'true' }, flags)).toEqual([
      ...train,
      ...['--lr', '0.1', '--nesterov'],
    ]);
    expect(wordsOfTrial(train, { nesterov: 'false' }, flags)).toEqual(train);
  });

  it('may have a place for them', () => {
    const words = ['train', '--data', '/data/{part}'];
    expect(wordsOfTrial(words, { part: 'a', lr: '1' }, flags)).toEqual([
      'train',
      '--data',
      '/data/a',
      '--lr',
      '1',
    ]);
  });

  it.each([
    [train, 'batchsize=1', 'the trainer has no flag --batchsize. Did you mean batch-size?'],
    [train, 'optimum=1', 'the trainer has no flag --optimum. Name one of its flags.'],
    [train, 'data=a,b', '--data is both tried and given. Leave it out of the training.'],
    [train, 'run-dir=a,b', 'a folder is named, and every trial has one of its own.'],
    [[...train, '--run-dir=x'], 'lr=1', 'a folder is named, and every trial has one of its own.'],
  ])('%s refuses %s', (words, text, said) => {
    expect(() => {
      assertPlaces(words, axesOf([text]), flags);
    }).toThrow(said);
  });

  it.each([
    [{ lr: 'fast' }, 'with lr=fast: --lr must be a number above 0'],
    [{ nesterov: 'on' }, '--nesterov takes no value, and is tried with on. Write true and false'],
  ])('refuses %o', (values, said) => {
    expect(() => {
      assertTrial(train, values, flags);
    }).toThrow(said);
  });

  it('takes good values', () => {
    assertPlaces(['trainer', ...train], axesOf(['lr=1', 'nesterov=true,false']), flags);
    assertTrial(['trainer', ...train], { lr: '1', nesterov: 'true' }, flags);
  });
});

describe('another program', () => {
  const words = ['python3', 'train.py', '--lr={lr}', '{lr}/{size}', '{json}'];

  it('gets its values in their places, and keeps other braces', () => {
    expect(wordsOfTrial(words, { lr: '0.1', size: '{lr}' }, [])).toEqual([
      ...['python3', 'train.py', '--lr=0.1', '0.1/{lr}', '{json}'],
    ]);
  });

  it('is refused where a value has no place', () => {
    const places = (text: string) => (): void => {
      assertPlaces(words, axesOf([text]), []);
    };
    expect(places('lr=1')).not.toThrow();
    expect(places('sizes=1')).toThrow(
      'the command has no {sizes}. The command has {size}: give both the same name.',
    );
    expect(places('depth=1')).toThrow('the command has no {depth}. Write {depth} where its value belongs.');
  });
});

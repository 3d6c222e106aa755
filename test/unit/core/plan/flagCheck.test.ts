// Flags of the trainer, looked at and completed before anything is started.
import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { assertTrainFlags, flagProblems } from '../../../../src/core/plan/request/flagCheck.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import { suggestions } from '../../../../src/core/plan/request/suggest.js';
import { modelsOf, offeredFlags } from '../../../../src/core/plan/request/trainerHelp.js';

const help = `train a network
Usage: trainer train [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --model TEXT=resnet20       resnet20 (32 px), inception_v3 (299 px), mlp (32 px)
  --data TEXT                 a folder of class folders
  --label-offset INT:-1000000..1000000
                              subtracted from the labels
  --steps INT:0..1000000000000=0
                              updates in all (0: by --epochs)
  --seed UINT:0..9223372036854775807=1
                              the same seed gives the same weights
  --batch-size INT:1..65536=32
                              images per replica and micro-batch
  --sync-batch-norm           statistics over all replicas
  --optimizer TEXT:{sgd,lars,adam}=sgd
                              how gradients change weights
  --momentum FLOAT:0..<1=0.9  of sgd and lars
  --lr FLOAT:>0..1000000      peak learning rate
  --lr-steps FLOAT,…:>0..1000000
                              epochs, like 30,60,80
  --device TEXT:{cpu,cuda}=cpu
                              cpu or cuda
`;
const flags = offeredFlags('train', help);
const problems = (...words: string[]): string[] =>
  flagProblems(words, flags).map(({ what, hint }) => `${what}. ${hint}`);

describe('flagProblems', () => {
  it('has nothing against what the trainer takes', () => {
    const right = [
      ...['--model', 'inception_v3', '--data', '/my data', '--seed', '9223372036854775807'],
      ...['--label-offset', '-1', '--sync-batch-norm', '--momentum=0', '--lr', '1e-3'],
      ...['--lr-steps', '30,60,.5e2', '--device', 'auto', '--optimizer=adam'],
    ];
    expect(problems(...right)).toEqual([]);
  });

  it.each([
    [['--modle', 'mlp'], 'the trainer has no flag --modle. Did you mean --model?'],
    [['--batchsize=8'], 'the trainer has no flag --batchsize. Did you mean --batch-size?'],
    [['--colour', 'red'], 'the trainer has no flag --colour. Leave it out'],
    [['-model', 'mlp'], 'the trainer has no flag -model. Did you mean --model?'],
    [['mlp'], '"mlp" is one word too many. Quotes keep the words of one value together'],
    [['--steps'], '--steps needs a value. Give a whole number from 0 to 1000000000000'],
    [['--data', '--steps', '5'], '--data needs a value. Write it after the flag'],
    [['--steps', '5', '--steps=6'], '--steps is given twice. Give it once'],
    [
      ['--model', 'resnet2'],
      '--model must be resnet20, inception_v3 or mlp, not "resnet2"; did you mean resnet20?. Correct it',
    ],
    [['--optimizer', 'rmsprop'], '--optimizer must be sgd, lars or adam, not "rmsprop". Correct it'],
    [['--batch-size', '0'], '--batch-size must be a whole number from 1 to 65536, not "0". Correct it'],
    [['--steps', '1.5'], '--steps must be a whole number from 0 to 1000000000000, not "1.5". Correct it'],
    [
      ['--seed', '9223372036854775808'],
      '--seed must be a whole number from 0 to 9223372036854775807, not "9223372036854775808". Correct it',
    ],
    [['--lr', '0'], '--lr must be a number above 0 up to 1000000, not "0". Correct it'],
    [['--lr', 'nan'], '--lr must be a number above 0 up to 1000000, not "nan". Correct it'],
    [['--momentum', '1'], '--momentum must be a number from 0 and below 1, not "1". Correct it'],
    [
      ['--lr-steps', '30,'],
      '--lr-steps must be numbers with commas between them, each above 0 up to 1000000, not "30,". Correct it',
    ],
  ])('%j', (words, expected) => {
    expect(problems(...words)).toEqual([expected]);
  });

  it('stops a start, and asks the trainer only where it trains', async () => {
    const profile: Profile = { name: 'local', kind: 'local' };
    const of = (...words: string[]): ReturnType<typeof requestOf> => requestOf({ profile, words, cwd: '/' });
    const helps = (): Promise<string> => Promise.resolve(help);
    const training = of(
      'train',
      '--data',
      'synthetic',
      '--modle',
      'mlp',
      '--device',
      'auto',
      '--run-dir',
      'x',
    );
    await expect(assertTrainFlags(training, helps)).rejects.toMatchObject({
      code: 'usage',
      what: 'the trainer has no flag --modle',
      hint: 'Did you mean --model?',
    });
    await assertTrainFlags(of('train', '--data', 'synthetic', '--run-dir', 'x'), helps);
    const never = (): Promise<string> => Promise.reject(new Error('was asked'));
    await assertTrainFlags(of('python3', 'train.py', '--modle', 'mlp'), never);
  });
});

it('the models are those of the help, with their images', () => {
  expect(modelsOf(flags)).toEqual([
    { name: 'resnet20', pixels: 32 },
    { name: 'inception_v3', pixels: 299 },
    { name: 'mlp', pixels: 32 },
  ]);
  expect(modelsOf(offeredFlags('train', '  --model TEXT=a  a (32 px) or b'))).toEqual([]);
});

describe('suggestions', () => {
  const offered = (line: string): string[] => suggestions(line, flags).map(({ word }) => word);

  it('begin with the verb, and leave other programs alone', () => {
    expect(offered('')).toEqual(['train']);
    expect(offered('tr')).toEqual(['train']);
    expect(offered('python')).toEqual([]);
    expect(offered('python train.py --l')).toEqual([]);
  });

  it('are flags that are not there yet, and the values of a flag', () => {
    expect(offered('train --model mlp --l')).toEqual(['--label-offset', '--lr', '--lr-steps']);
    expect(offered('train --lr=1 --lr')).toEqual(['--lr-steps']);
    expect(offered('train --model ')).toEqual(['resnet20', 'inception_v3', 'mlp']);
    expect(offered('train --model m')).toEqual(['mlp']);
    expect(offered('train --optimizer=l')).toEqual(['--optimizer=lars']);
    expect(offered('train --data ')).toEqual([]);
    expect(offered('train --sync-batch-norm --mo')).toEqual(['--model', '--momentum']);
  });

  it('say in words what a flag takes', () => {
    const [steps] = suggestions('train --steps', flags);
    expect(steps).toEqual({
      word: '--steps',
      value: 'a whole number from 0 to 1000000000000, by default 0',
      help: 'updates in all (0: by --epochs)',
    });
    expect(suggestions('train --opt', flags)[0]?.value).toBe('sgd, lars, adam, by default sgd');
    expect(suggestions('train --optimizer s', flags)[0]?.value).toBe('the default');
  });
});

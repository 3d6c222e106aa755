import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinWords, splitWords } from '../../../../src/core/plan/request/argv.js';
import { offeredFlags, parseTrainerHelp } from '../../../../src/core/plan/request/trainerHelp.js';
import { parseHosts, seenFromHere } from '../../../../src/core/profiles/import.js';

describe('a command line as one text', () => {
  it('splits at blanks, and quotes keep words together', () => {
    expect(splitWords('  train --data "/my data"  --x=\'a b\'c\n')).toEqual([
      'train',
      '--data',
      '/my data',
      '--x=a bc',
    ]);
    expect(splitWords('a\\ b "c\\"d" \'\'')).toEqual(['a b', 'c"d', '']);
    expect(() => splitWords('train "x')).toThrow('does not end');
  });

  it('comes back as the same words', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(splitWords(joinWords(words))).toEqual(words);
      }),
    );
  });
});

const help = `train a network
Usage: trainer train [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --model TEXT=resnet20       resnet20 (32 px), resnet18 (224 px) or mlp
  --lr-scale-by-world         multiply --lr by the number of replicas
  --lr-schedule TEXT:{cosine,poly}=cosine
                              how the rate falls
  --run-dir TEXT              the folder for metrics
  --threads INT:0..1024=0     compute threads
  --lr FLOAT:>0..1000000      peak learning rate
  --lr-steps FLOAT,…:>0..1000000
                              epochs
`;

describe('the flags of the trainer', () => {
  const flags = parseTrainerHelp(help);

  it('reads them from the help text', () => {
    expect(flags.map(({ name }) => name)).toEqual([
      '--model',
      '--lr-scale-by-world',
      '--lr-schedule',
      '--run-dir',
      '--threads',
      '--lr',
      '--lr-steps',
    ]);
    expect(flags[4]).toMatchObject({ value: 'INT', range: '0..1024', initial: '0', help: 'compute threads' });
    expect(flags[5]).toMatchObject({ value: 'FLOAT', range: '>0..1000000', initial: undefined });
    expect(flags[6]).toMatchObject({ value: 'FLOAT', list: true, range: '>0..1000000', help: 'epochs' });
    expect(flags[0]).toMatchObject({ value: 'TEXT', initial: 'resnet20', choices: [] });
    expect(flags[1]).toMatchObject({ value: undefined, help: 'multiply --lr by the number of replicas' });
    expect(flags[2]).toMatchObject({
      choices: ['cosine', 'poly'],
      initial: 'cosine',
      help: 'how the rate falls',
    });
  });
});

describe('hosts files', () => {
  it('are read as people have them', () => {
    const text = `# the cluster
localhost slots=8
10.0.0.2 slots=8 max_slots=8
gpu3:4
me@gpu4:2222

gpu5
gpu5
`;
    expect(parseHosts(text)).toEqual([
      { host: 'localhost', slots: 8 },
      { host: '10.0.0.2', slots: 8 },
      { host: 'gpu3', slots: 4 },
      { host: 'gpu4', user: 'me', port: 2222 },
      { host: 'gpu5', slots: 2 },
    ]);
  });

  it('are refused by line when they are none', () => {
    expect(parseHosts('worker|gpu1:2222\nworker|gpu2:2222, ps|gpu3')).toEqual([
      { host: 'gpu1', tasks: ['worker:2222'] },
      { host: 'gpu2', tasks: ['worker:2222'] },
      { host: 'gpu3', tasks: ['ps'] },
    ]);
    expect(parseHosts('master|gpu1:2222\nworker|gpu1:2223')).toEqual([
      { host: 'gpu1', slots: 2, tasks: ['chief:2222', 'worker:2223'] },
    ]);
    expect(() => parseHosts('worker|gpu1:2222\nboss|gpu2')).toThrow('line 2 names the role boss');
    const fromLeader = 'localhost slots=8\n172.31.0.5 slots=8\n172.31.0.6 slots=4\n';
    expect(seenFromHere(parseHosts(fromLeader), 'ubuntu@lead.example:2200')).toEqual([
      { host: 'lead.example', user: 'ubuntu', port: 2200, slots: 8 },
      { host: '172.31.0.5', user: 'ubuntu', slots: 8, proxyJump: 'ubuntu@lead.example:2200' },
      { host: '172.31.0.6', user: 'ubuntu', slots: 4, proxyJump: 'ubuntu@lead.example:2200' },
    ]);
    expect(() => seenFromHere(parseHosts(fromLeader), undefined)).toThrow('Say how the leader is reached');
    expect(() => parseHosts('gpu1\n-oProxyCommand=x\n')).toThrow('line 2');
    expect(() => parseHosts('gpu1 rm -rf')).toThrow('line 1');
    expect(() => parseHosts('# nothing\n')).toThrow('no host is named');
  });
});

it('offers --device auto for training alone, which the trainer does not know', () => {
  const help = '  --device TEXT:{cpu,cuda}=cpu  cpu or cuda';
  const [device] = offeredFlags('train', help);
  expect(device).toMatchObject({ initial: 'auto', choices: ['auto', 'cpu', 'cuda'] });
  expect(offeredFlags('eval', help)).toEqual(parseTrainerHelp(help));
});

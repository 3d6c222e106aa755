import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { placeRanks } from '../../../../src/core/plan/placement.js';
import { flagValue } from '../../../../src/core/plan/request/flagValue.js';
import { requestOf, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { resumedRun, resumeCommand } from '../../../../src/core/plan/resume.js';

const run = (more: object): RunEntry['run'] =>
  ({
    ranks: 4,
    program: 'trainer',
    paths: { trainer: '/n/bin/trainer' },
    argv: ['train', '--data', "it's $HOME `here`"],
    evaluator: null,
    tensorboard: false,
    ...more,
  }) as RunEntry['run'];

it('is a command line that a shell takes apart into the same words', () => {
  const text = resumeCommand({ run: run({}), dir: nodePath('/a b/c') }, 'lab') ?? '';
  const words = execFileSync('sh', ['-c', `printf '%s\\n' ${text}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  const flags = ['--run-dir', '/a b/c', '--ranks', '4'];
  expect(words).toEqual([
    'trainyard',
    'run',
    'lab',
    ...flags,
    '--',
    'train',
    '--data',
    "it's $HOME `here`",
    '--device',
    'cpu',
  ]);
});

it('asks for the nodes, the TensorBoard and the evaluator that the run had', () => {
  const nodes = [{}, {}];
  const argv = ['train', '--eval-data', 'x'];
  expect(resumeCommand({ run: run({ nodes, argv, tensorboard: true }), dir: nodePath('/r') }, 'lab')).toBe(
    'trainyard run lab --run-dir /r --ranks 4 --nodes 2 --tensorboard --no-evaluator -- train --eval-data x --device cpu',
  );
  const perNode = { program: 'command', argv: ['torchrun', 'x.py'], perNode: true, ranks: 2 };
  const workers = [{ workers: 3 }, { workers: 2 }];
  expect(resumeCommand({ run: run({ ...perNode, nodes: workers }), dir: nodePath('/r') }, 'lab')).toBe(
    'trainyard run lab --run-dir /r --ranks 5 --nodes 2 --per-node -- torchrun x.py',
  );
  expect(resumeCommand({ run: null, dir: nodePath('/r') }, 'lab')).toBeUndefined();
});

it('has no time limit but its own, for that of before was of one start', () => {
  const limited = run({ limits: { timeLimit: 90 } });
  expect(resumeCommand({ run: limited, dir: nodePath('/r') }, 'lab')).not.toContain('--time-limit');
  const entry = { id: 'r', dir: nodePath('/r'), run: limited, state: null, interrupted: true };
  const profile = { name: 'lab', kind: 'local' } as const;
  expect(resumedRun(entry, profile, '/')).not.toHaveProperty('timeLimit');
  expect(resumedRun(entry, profile, '/', { timeLimit: 60 })).toMatchObject({ timeLimit: 60 });
});

it('stays a run of its report', () => {
  const report = { kind: 'scaling', begun: 5 };
  const entry = { id: 'r', dir: nodePath('/r'), run: run({ report }), state: null, interrupted: true };
  const profile = { name: 'lab', kind: 'local' } as const;
  expect(resumedRun(entry, profile, '/')).toMatchObject({ report, runDir: '/r' });
  expect(resumedRun({ ...entry, run: run({}) }, profile, '/')).not.toHaveProperty('report');
});

it('asks for the hosts that were named, in place of their number', () => {
  const nodes = [{ slots: 0 }, {}, {}];
  const named = run({ nodes, hostsAsked: ['b', 'c'] });
  expect(resumeCommand({ run: named, dir: nodePath('/r') }, 'lab')).toContain(
    'run lab --run-dir /r --ranks 4 --hosts b,c -- train',
  );
  const hosts = ['a', 'b', 'c'].map((host) => ({ host }));
  const entry = { id: 'r', dir: nodePath('/r'), run: named, state: null, interrupted: true };
  const resumed = resumedRun(entry, { name: 'lab', kind: 'ssh', hosts }, '/');
  expect(resumed).toMatchObject({ hosts: ['b', 'c'], ranks: 4 });
  expect(resumed).not.toHaveProperty('nodes');
});

it('asks for the GPUs that were asked for', () => {
  expect(
    resumeCommand(
      { run: run({ gpusAsked: '0,2', argv: ['train', '--device', 'cuda'] }), dir: nodePath('/r') },
      'lab',
    ),
  ).toBe('trainyard run lab --run-dir /r --ranks 4 --gpus 0,2 -- train --device cuda');
});

describe('on other hosts', () => {
  const lab: Profile = {
    ...{ name: 'lab', kind: 'ssh' },
    hosts: ['gpu1', 'gpu2', 'gpu3'].map((host) => ({ host, slots: 2 })),
  };
  const offers = (lab.hosts ?? []).map((host) => ({ host, address: host.host, cores: 8, gpus: [] }));
  const resumed = (more: object, ...hosts: string[]): TypedRun => {
    const entry = { id: 'r', dir: nodePath('/r'), run: run(more), state: null, interrupted: true };
    return resumedRun(entry, lab, '/', hosts.length === 0 ? {} : { hosts });
  };
  const placed = (typed: TypedRun): unknown => {
    const { nodes, ranks } = placeRanks(requestOf(typed), 'cpu', offers);
    return { ranks, slots: nodes.map(({ host, slots }) => `${host}: ${slots}`) };
  };
  const argv = ['train', '--data', 'synthetic'];

  it('a training takes all their slots, and keeps the global batch that it had', () => {
    const typed = resumed({ argv, ranks: 6, nodes: [{}, {}, {}] }, 'gpu1', 'gpu3');
    expect(placed(typed)).toEqual({ ranks: 4, slots: ['gpu1: 2', 'gpu3: 2'] });
    expect(typed.words).toEqual([...argv, '--device', 'cpu', '--planned-ranks', '6']);
    expect(typed.runDir).toBe('/r');
    // What was recorded then, once more.
    const again = { argv: typed.words, ranks: 4, hostsAsked: ['gpu1', 'gpu3'] };
    expect(flagValue(resumed(again).words, '--planned-ranks')).toBe('6');
    expect(flagValue(resumed(again, 'gpu1').words, '--planned-ranks')).toBe('6');
    expect(placed(resumed(again, 'gpu1'))).toEqual({ ranks: 2, slots: ['gpu1: 2'] });
  });

  it('a run goes on where its own hosts are lost', () => {
    const lost = { argv, hostsAsked: ['gpu1', 'gpu9'] };
    expect(() => resumed(lost)).toThrow('gpu9 is no longer a host of profile lab');
    expect(placed(resumed(lost, 'gpu1'))).toEqual({ ranks: 2, slots: ['gpu1: 2'] });
    expect(() => requestOf(resumed(lost, 'gpu9'))).toThrow('gpu9 is no host of profile lab');
  });

  it('a program has processes as it had, so many as there is room for', () => {
    const program = { program: 'command', argv: ['python', 'a.py'], nodes: [{}, {}, {}] };
    const slots = ['gpu1: 2', 'gpu3: 2'];
    expect(placed(resumed({ ...program, ranks: 6 }, 'gpu1', 'gpu3'))).toEqual({ ranks: 4, slots });
    const perNode = resumed({ ...program, ranks: 3, perNode: true }, 'gpu1', 'gpu3');
    expect(placed(perNode)).toEqual({ ranks: 2, slots: ['gpu1: 1', 'gpu3: 1'] });
    const one = { ...program, ranks: 1 };
    expect(placed(resumed(one, 'gpu3'))).toEqual({ ranks: 1, slots: ['gpu1: 0', 'gpu3: 1'] });
    expect(() => placed(resumed(one, 'gpu1', 'gpu3'))).toThrow('this run is one process');
    expect(resumed({ ...program, ranks: 6 }, 'gpu1').words).toEqual(program.argv);
  });
});

describe('with other ranks or GPUs', () => {
  const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
  const nodes = [{ host: 'a', address: 'a', slots: 4, gpus: null }];
  const entryOf = (more: object): RunEntry => ({
    id: 'r',
    dir: nodePath('/r'),
    run: run({ nodes, ...more }),
    state: null,
    interrupted: true,
  });

  it('a training keeps the batch that its ranks were meant for, on as many nodes as it takes', () => {
    const typed = resumedRun(entryOf({}), lab, '/', { ranks: 2 });
    expect(typed).toMatchObject({ ranks: 2, nodes: 1 });
    expect(resumedRun(entryOf({}), lab, '/', { ranks: 6 })).not.toHaveProperty('nodes');
    expect(flagValue(typed.words, '--planned-ranks')).toBe('4');
    const argv = ['train', '--planned-ranks', '8'];
    expect(flagValue(resumedRun(entryOf({ argv }), lab, '/', { ranks: 2 }).words, '--planned-ranks')).toBe(
      '8',
    );
  });

  it('goes on with these on hosts that are named too', () => {
    const typed = resumedRun(entryOf({}), lab, '/', { hosts: ['b'], ranks: 3 });
    expect(typed).toMatchObject({ hosts: ['b'], ranks: 3 });
    expect(typed.words.filter((word) => word === '--planned-ranks')).toHaveLength(1);
  });

  it('takes other GPUs than those that it asked for', () => {
    const program = { program: 'command', argv: ['python3', 'x.py'], gpusAsked: '2' };
    expect(resumedRun(entryOf(program), lab, '/', { gpus: '0,3' })).toMatchObject({ gpus: '0,3', ranks: 4 });
    expect(resumedRun(entryOf(program), lab, '/')).toMatchObject({ gpus: '2' });
  });
});

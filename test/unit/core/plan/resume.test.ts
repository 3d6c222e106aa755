import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
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

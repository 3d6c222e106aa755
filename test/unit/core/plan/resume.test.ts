import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { resumeCommand } from '../../../../src/core/plan/resume.js';

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
  expect(resumeCommand({ run: null, dir: nodePath('/r') }, 'lab')).toBeUndefined();
});

import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import {
  fileOf,
  fileWords,
  languageOf,
  perOf,
  spreadsOf,
  type FileRun,
} from '../../../../src/core/plan/runFile.js';

const profile: Profile = { name: 'local', kind: 'local' };
const run: FileRun = {
  file: 'src/train.py',
  args: ['--epochs', '3'],
  spread: 'one',
  python: 'python3',
};

describe('fileWords', () => {
  it('starts a Python file by the interpreter, and a script by bash', () => {
    expect(fileWords(run)).toEqual(['python3', 'src/train.py', '--epochs', '3']);
    expect(fileWords({ ...run, python: '/venv/bin/python', spread: 'perSlot' })[0]).toBe('/venv/bin/python');
    expect(fileWords({ ...run, file: 'go.sh', args: ['a b'] })).toEqual(['bash', 'go.sh', 'a b']);
  });

  it("starts PyTorch's launcher, one on each node", () => {
    const words = fileWords({ ...run, spread: 'torchrun' });
    expect(words).toEqual(['python3', '-m', 'torch.distributed.run', 'src/train.py', '--epochs', '3']);
    expect(requestOf({ profile, words, cwd: '/w', ...perOf('torchrun') })).toMatchObject({ perNode: true });
  });

  it('never lets a name be taken for an option', () => {
    expect(fileWords({ ...run, file: '-c.py', args: [] })).toEqual(['python3', './-c.py']);
  });

  it('refuses what is no program, and says what is', () => {
    expect(() => fileWords({ ...run, file: 'notes.txt' })).toThrow(UserError);
    expect(() => fileWords({ ...run, file: 'notes.txt' })).toThrow(/notes\.txt is neither.*\.py or \.sh/);
    expect(languageOf('train.pyc')).toBeUndefined();
  });

  it('has no launcher of PyTorch for a shell script', () => {
    expect(spreadsOf('a.py')).toEqual(['one', 'perSlot', 'torchrun']);
    expect(spreadsOf('a.sh')).toEqual(['one', 'perSlot']);
  });
});

it('asks for one process, or for one on every slot', () => {
  const words = fileWords(run);
  const typed = { profile, words, cwd: '/home/me', name: 'train.py' };
  expect(requestOf({ ...typed, ...perOf('one') })).toMatchObject({
    kind: 'command',
    everySlot: false,
    label: 'train.py',
    cwd: '/home/me',
  });
  expect(requestOf({ ...typed, ...perOf('perSlot') })).toMatchObject({ everySlot: true, argv: words });
});

describe('fileOf', () => {
  it.each([
    ['python3 train.py --data x.py', 'train.py'],
    ['/usr/bin/python3.12 -u src/train.py', 'src/train.py'],
    ['bash -e go.sh a', 'go.sh'],
    ['./go.sh', './go.sh'],
    ['torchrun --nproc-per-node=2 train.py', 'train.py'],
    ['python3 -m torch.distributed.run --standalone train.py', 'train.py'],
    ['python3 train.py -m x', 'train.py'],
  ])('finds the file of %s', (line, file) => {
    expect(fileOf(line.split(' '))).toBe(file);
  });

  it.each([
    'python3 -c print() a.py',
    'python3 -m package out.py',
    'python3 -W ignore train.py',
    'torchrun --nproc-per-node 2 train.py',
    'go.sh',
    'make train.py',
    'python3',
    'train --data a.py',
  ])('does not guess at that of %s', (line) => {
    expect(fileOf(line.split(' '))).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { checkFiles, taskRun, type TaskRun } from '../../../../src/core/plan/runTask.js';

const folder = '/home/me/project';
const of = (fields: object): TaskRun => taskRun({ type: 'trainyard', ...fields }, folder);

describe('taskRun', () => {
  it('reads the words of either field', () => {
    const shown = { tensorboard: false, dashboard: false };
    const words = ['python3', 'train.py', '--name', 'two words'];
    expect(of({ program: words })).toEqual({ profile: 'local', words, cwd: folder, ...shown });
    expect(of({ command: 'python3 train.py --name "two words"' }).words).toEqual(words);
  });

  it('hands on every field', () => {
    const fields = {
      profile: 'lab',
      nodes: 2,
      name: 'mine',
      cwd: '/tmp',
      tensorboard: true,
      wait: true,
      dashboard: true,
      budget: 12.5,
      budgetStop: true,
      slurm: { partition: 'long', time: '8:00:00', requeue: false },
    };
    expect(of({ command: 'make data', ranks: 3, ...fields })).toEqual({
      ...fields,
      ...{ words: ['make', 'data'], ranks: 3 },
    });
    expect(of({ command: 'make', gpus: 2, code: 'sub' })).toMatchObject({ gpus: '2', codeFolder: 'sub' });
    expect(of({ command: 'make', hosts: ['gpu1', 'gpu3'] })).toMatchObject({ hosts: ['gpu1', 'gpu3'] });
    expect(of({ command: 'make', gpus: '0,2' })).toMatchObject({ gpus: '0,2' });
    expect(of({ command: 'make', timeLimit: '30m' })).toMatchObject({ timeLimit: 1800 });
    const own = { silenceTimeout: '10m', share: './checkpoints/' };
    expect(of({ command: 'make', ...own })).toMatchObject({ silenceTimeout: 600, share: 'checkpoints' });
    expect(of({ command: 'make' })).not.toHaveProperty('wait');
    expect(of({ command: 'make data', perSlot: true })).toMatchObject({ per: 'slot' });
    expect(of({ command: 'torchrun a.py', perNode: true })).toMatchObject({ per: 'node' });
  });

  it.each([
    [{}, 'one of "program" and "command" must be there, and not both'],
    [{ program: ['a'], command: 'a' }, 'and not both'],
    [{ program: [] }, 'program: '],
    [{ command: 'a', ranks: 0 }, 'ranks: '],
    [{ command: 'a', perSlot: true, perNode: true }, 'perNode: cannot stand beside "perSlot"'],
    [{ command: 'a', profile: 3 }, 'profile: '],
    [{ command: 'a', gpus: 0 }, 'gpus: '],
    [{ command: 'a', hosts: [] }, 'hosts: '],
    [{ command: 'a', gpus: '0,0' }, '"gpus" of the task names GPU 0 twice'],
    [{ command: 'a', budget: 0 }, 'budget: '],
    [{ command: 'a', timeLimit: '30' }, '"timeLimit" of the task must be from 1s to 365d, not "30"'],
    [
      { command: 'a', silenceTimeout: '10' },
      '"silenceTimeout" of the task must be from 1s to 365d, not "10"',
    ],
    [{ command: 'a', share: '/scratch' }, '"share" of the task must be relative'],
    [{ command: 'a', slurm: { queue: 'long' } }, 'slurm: '],
    [{ command: 'a', slurm: { time: 'long' } }, '"long" is no time limit of Slurm'],
    [{ command: 'a', code: 'x', cwd: 'y' }, 'cwd: cannot stand beside "code"'],
    [{ command: 'echo "a' }, 'a " that does not end'],
  ])('refuses %j', (fields, words) => {
    expect(() => of(fields)).toThrow(UserError);
    expect(() => of(fields)).toThrow(words);
  });
});

describe('checkFiles', () => {
  const there = ['/w', '/w/train.py'];
  const on = {
    exists: (path: string) => there.includes(path),
    resolve: (...parts: string[]) => parts.join('/'),
  };
  const checking =
    (words: string, cwd = '/w') =>
    (): void => {
      checkFiles({ words: words.split(' '), cwd }, on);
    };

  it('lets through what is there, and what it cannot tell', () => {
    expect(checking('python3 train.py')).not.toThrow();
    expect(checking('make nothing.py')).not.toThrow();
  });

  it('says which file or folder is not there, and what to do', () => {
    expect(checking('python3 tran.py')).toThrow('there is no file tran.py in /w. Correct the program');
    expect(checking('python3 train.py', '/v')).toThrow('there is no folder /v. Correct "cwd" of the task');
  });
});

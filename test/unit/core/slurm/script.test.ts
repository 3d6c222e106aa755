import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { check } from '../../../../src/core/base/validation.js';
import { profileSchema, type Profile } from '../../../../src/core/contracts/profileSchema.js';
import { allocationOf } from '../../../../src/core/slurm/allocation.js';
import { gpusOf } from '../../../../src/core/slurm/gres.js';
import { gpusPerNodeOf } from '../../../../src/core/slurm/options.js';
import { batchScript, type BatchJob } from '../../../../src/core/slurm/script.js';
import { programStep, terminalStep } from '../../../../src/core/slurm/step.js';
import { secondsOf, stopAheadTrouble } from '../../../../src/core/slurm/options.js';

const job = (more: Partial<BatchJob> = {}): BatchJob => ({
  name: '20261124-222105-mlp-017a',
  fields: {},
  nodes: 2,
  tasksPerNode: 4,
  dir: nodePath('/home/ada/runs/r'),
  python: nodePath('/n/bin/python'),
  program: nodePath('/n/share/slurm/slurm_job.py'),
  ...more,
});

describe('the batch script', () => {
  it('asks for what the profile says, and becomes one program', () => {
    const fields = {
      ...{ partition: 'gpu', account: 'a1', qos: 'high', gres: 'gpu:a100:4', constraint: 'ib&nvme' },
      ...{ time: '1-00:00:00', cpusPerTask: 8, exclusive: true, requeue: true, stopAhead: 300 },
      lines: ['--mem=0', '--mail-type=END'],
    };
    expect(batchScript(job({ fields })).split('\n')).toEqual([
      '#!/bin/bash',
      '#SBATCH --partition="gpu"',
      '#SBATCH --account="a1"',
      '#SBATCH --qos="high"',
      '#SBATCH --constraint="ib&nvme"',
      '#SBATCH --gres="gpu:a100:4"',
      '#SBATCH --time="1-00:00:00"',
      '#SBATCH --exclusive',
      '#SBATCH --mem=0',
      '#SBATCH --mail-type=END',
      '#SBATCH --job-name="20261124-222105-mlp-017a"',
      '#SBATCH --nodes=2',
      '#SBATCH --ntasks-per-node=4',
      '#SBATCH --cpus-per-task=8',
      '#SBATCH --output="/home/ada/runs/r/slurm.log"',
      '#SBATCH --open-mode=append',
      '#SBATCH --signal=B:USR1@300',
      '#SBATCH --requeue',
      "exec '/n/bin/python' '/n/share/slurm/slurm_job.py' '/home/ada/runs/r'",
      '',
    ]);
  });

  it('gives a real bash no more than three words, whatever a folder is called', () => {
    const odd = nodePath('/tmp/it\'s $(touch x) `y` "z" \\ %j\'; rm -rf *');
    const script = batchScript(
      job({ dir: odd, python: nodePath('/usr/bin/printf'), program: nodePath('%s\\n') }),
    );
    expect(spawnSync('bash', { input: script, encoding: 'utf8' }).stdout).toBe(`${odd}\n`);
    expect(script).toContain('%%j');
  });

  it('quotes what sbatch reads, and takes no line break', () => {
    const fields = { partition: 'a"b\\c d#e' };
    expect(batchScript(job({ fields }))).toContain('#SBATCH --partition="a\\"b\\\\c d#e"\n');
    expect(() => batchScript(job({ fields: { account: 'a\n#SBATCH --uid=0' } }))).toThrow(TypeError);
  });
});

describe('the fields of a profile', () => {
  const base = { name: 's', kind: 'slurm', hosts: [{ host: 'login' }] };

  it('refuse control characters, and what is no option', () => {
    const problems = (slurm: object): string => {
      const result = check(profileSchema, { ...base, slurm });
      return result.ok ? '' : JSON.stringify(result.problems);
    };
    expect(problems({ partition: 'gpu', lines: ['--mem=4G', '-x', 'n3'.padStart(4, '-')] })).toBe('');
    for (const field of ['partition', 'account', 'qos', 'gres', 'constraint', 'time']) {
      expect(problems({ [field]: 'a\nb' }), field).toContain('control characters');
      expect(problems({ [field]: '' }), field).toContain('must not be empty');
    }
    for (const line of ['mem=4G', '--mem=4G\n--x', '', '--', 'exec rm']) {
      expect(problems({ lines: [line] }), line).toContain('one option of sbatch');
    }
  });

  it('say how many GPUs a node has', () => {
    const given = [
      'gpu',
      'gpu:4',
      'gpu:a100',
      'gpu:a100:2',
      'gpu:8(S:0-1)',
      'nvme:1,gpu:3',
      'gres:gpu:5',
      'lic:2',
    ];
    expect(given.map((gres) => gpusPerNodeOf({ gres }))).toEqual([1, 4, 1, 2, 8, 3, 5, 0]);
    expect(gpusPerNodeOf({ gpusPerNode: 6 })).toBe(6);
    expect(gpusOf('gpu:2080ti:4(S:0,1),gpu:3090:8,gpu:1g.10gb:2,gres/gpu:1,gpu')).toEqual([
      { type: '2080ti', count: 4 },
      { type: '3090', count: 8 },
      { type: '1g.10gb', count: 2 },
      { type: '', count: 2 },
    ]);
    expect(gpusPerNodeOf({})).toBe(0);
  });
});

describe('the size of an allocation', () => {
  const profile = (slurm: NonNullable<Profile['slurm']>, slots?: number): Profile => ({
    name: 's',
    kind: 'slurm',
    hosts: [{ host: 'login', ...(slots === undefined ? {} : { slots }) }],
    slurm,
  });
  const none = { ranks: undefined, nodes: undefined, gpus: undefined };

  it('follows the request, then the profile', () => {
    const size = (given: Profile, wanted: object = {}): number[] => {
      const { nodes, gpusPerNode } = allocationOf({ profile: given, ...none, ...wanted });
      return [nodes, gpusPerNode];
    };
    expect(size(profile({}))).toEqual([1, 0]);
    expect(size(profile({ nodes: 3, gres: 'gpu:4' }))).toEqual([3, 4]);
    expect(size(profile({ nodes: 3 }), { nodes: 2 })).toEqual([2, 0]);
    expect(size(profile({ gres: 'gpu:4' }), { ranks: 6 })).toEqual([2, 4]);
    expect(size(profile({}, 8), { ranks: 9 })).toEqual([2, 0]);
    expect(size({ ...profile({ nodes: 9 }), maxNodes: 4 })).toEqual([4, 0]);
    expect(size({ ...profile({ nodes: 9 }), maxNodes: 4 }, { nodes: 6 })).toEqual([6, 0]);
  });

  it('asks for as many GPUs as were named, of the type of the profile', () => {
    const gpus = { count: 2 };
    expect(allocationOf({ profile: profile({ gres: 'gpu:a100:4,nvme:1' }), ...none, gpus }).fields.gres).toBe(
      'gpu:a100:2,nvme:1',
    );
    const digits = { profile: profile({ gres: 'gpu:2080ti:4' }), ...none, gpus };
    expect(allocationOf(digits).fields.gres).toBe('gpu:2080ti:2');
    expect(allocationOf({ profile: profile({ gres: 'gpu:4' }), ...none, gpus }).fields).toEqual({
      gpusPerNode: 2,
    });
    const named = { count: 1, indices: [3] };
    expect(() => allocationOf({ profile: profile({}), ...none, gpus: named })).toThrow(/Slurm chooses them/);
  });
});

describe('how long before its time limit a run stops', () => {
  it.each([
    ['90', 5400],
    ['90:30', 5430],
    ['1:30:00', 5400],
    ['2-12', 216_000],
    ['1-00:30', 88_200],
    ['1-00:00:10', 86_410],
    ['unlimited', undefined],
  ])('reads %s as sbatch does', (time, seconds) => {
    expect(secondsOf(time)).toBe(seconds);
  });

  it.each([
    [{ time: '2', stopAhead: 120 }],
    [{ time: '1', requeue: true }],
    [{ time: '0:30:00', stopAhead: 3600, requeue: true }],
  ])('is refused where no time is left: %j', (fields) => {
    expect(() => stopAheadTrouble(fields)).toThrow(/so it would make no step/);
  });

  it('is said where little time is left and the run goes on for ever otherwise', () => {
    expect(stopAheadTrouble({ time: '3', requeue: true })).toMatch(
      /^of its time limit of 180 s .* 60 s or less/,
    );
    expect(stopAheadTrouble({ time: '3' })).toBeUndefined();
    expect(stopAheadTrouble({ time: '4', requeue: true })).toBeUndefined();
    expect(stopAheadTrouble({ requeue: true })).toBeUndefined();
    expect(stopAheadTrouble({ time: 'unlimited', requeue: true })).toBeUndefined();
  });
});

describe('a program beside a job', () => {
  it('gets its command through srun as one word, and its bytes as they are', () => {
    const [sh, flag, script, ...argv] = programStep({ job: '4711', host: 'n1' }, 'echo "a b"; exit 3');
    expect([sh, flag]).toEqual(['sh', '-c']);
    expect(script).toMatch(/ exec srun "\$@"$/);
    expect(argv).toEqual([
      ...['srun', '--jobid=4711', '--nodelist=n1', '--overlap', '--unbuffered', '--quiet'],
      ...['--nodes=1', '--ntasks=1', '--cpu-bind=none', 'sh', '-c', 'echo "a b"; exit 3'],
    ]);
  });
});

describe('a step in a terminal', () => {
  it('is one process on one node of the job, beside what runs there', () => {
    expect(terminalStep({ job: '4711', host: 'gpu-12.hpc' })).toBe(
      'srun --jobid=4711 --nodelist=gpu-12.hpc --overlap --pty --nodes=1 --ntasks=1 --cpu-bind=none',
    );
  });

  it.each(['$(id)', 'n1;id', '-w', '', "n1'"])('takes no name that a shell would read: %j', (host) => {
    expect(() => terminalStep({ job: '1', host })).toThrow(/no name of a node/);
  });
});

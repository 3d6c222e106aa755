import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { errorWords } from '../../../../src/cli/remedies.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import {
  askedRun,
  emptyForm,
  formOf,
  formWords,
  type RunFormValues,
} from '../../../../src/core/plan/form/runForm.js';
import { checkForm } from '../../../../src/core/plan/form/runFormCheck.js';
import { offeredFlags } from '../../../../src/core/plan/request/trainerHelp.js';
import { splitWords } from '../../../../src/core/plan/request/argv.js';
import { check } from '../../../../src/core/base/validation.js';
import { presetSchema } from '../../../../src/core/contracts/presetSchema.js';
import { presetOf, presetRun } from '../../../../src/core/presets/presetRun.js';

const local: Profile = { name: 'local', kind: 'local' };
const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
const priced: Profile = { ...lab, pricePerNodeHour: 2, budget: 9, budgetStop: true };
const hpc: Profile = {
  name: 'hpc',
  kind: 'slurm',
  hosts: [{ host: 'login' }],
  slurm: { partition: 'gpu', gpusPerNode: 2 },
  pricePerGpuHour: 3,
};
const profiles: Record<string, Profile> = { local, lab, priced: { ...priced, name: 'priced' }, hpc };
const cwd = '/home/me';
const help = `train a network
  --model TEXT=resnet20       mlp (32 px), resnet20 (32 px)
  --data TEXT                 a folder
  --eval-data TEXT            a folder
  --epochs INT:0..1000000=10  passes over the data
  --batch-size INT:1..65536=32
                              images per replica
  --lr FLOAT:>0..1000         peak learning rate
  --optimizer TEXT:{sgd,lars,adam}=sgd
                              how gradients change weights
  --precision TEXT:{fp32,bf16}=fp32
                              of the arithmetic
  --device TEXT:{cpu,cuda}=cpu
                              where to compute
  --seed INT:0..100=1         of the weights
  --init-weights TEXT         a file
  --sync-batch-norm           statistics over all
`;
const flags = offeredFlags('train', help);

const text = fc.constantFrom('', 'a', "it's here", 'ä "b"', '-x', '$HOME');
const number = fc.constantFrom('', '1', '2');
const forms: fc.Arbitrary<RunFormValues> = fc.record({
  profile: fc.constantFrom('local', 'lab', 'priced', 'hpc'),
  what: fc.constantFrom('train', 'program'),
  model: fc.constantFrom('mlp', 'resnet20'),
  data: fc.constantFrom('synthetic', '/d/my images', '~/images'),
  evalData: fc.constantFrom('', '/d/val'),
  weights: fc.constantFrom('', '/w/runs/r/checkpoints/step-00000060/model.safetensors'),
  options: fc.constantFrom({}, { '--epochs': '3' }, { '--lr': '0.1', '--optimizer': 'adam' }),
  flags: fc.constantFrom('', '--seed 3', '--sync-batch-norm --seed=2'),
  device: fc.constantFrom('auto', 'cpu', 'cuda'),
  command: fc.constantFrom('python train.py', 'bash "my script.sh" --a=1', "echo 'x y'"),
  spread: fc.constantFrom('one', 'slot', 'node'),
  folder: fc.constantFrom('', '/home/me/pro ject'),
  logdir: fc.constantFrom('', 'logs'),
  stage: fc.constantFrom('', '/shared/images:/scratch/images', '~/a:~/b'),
  nodes: number,
  hosts: fc.constantFrom('', 'gpu1', 'gpu1,gpu2'),
  gpus: fc.constantFrom('', '1', '0,2'),
  ranks: number,
  wait: fc.boolean(),
  budget: fc.constantFrom('', '12.5'),
  budgetStop: fc.constantFrom('', 'stop', 'goOn'),
  timeLimit: fc.constantFrom('', '90s', '1.5h'),
  silenceTimeout: fc.constantFrom('', '10m', '0'),
  share: fc.constantFrom('', 'checkpoints', './out/'),
  requirements: fc.constantFrom('', '/w/requirements.txt', '/a b/gpu.txt'),
  slurm: fc.constantFrom<Record<string, string>>(
    {},
    { partition: 'long', time: '2:00:00', requeue: 'false' },
    { gres: 'gpu:a100:4', exclusive: 'true', qos: 'a b' },
  ),
  tensorboard: fc.boolean(),
  name: text,
  tags: fc.constantFrom('', 'a, b', '#x'),
  notes: text,
});

describe('the form', () => {
  it('asks for what its command line asks for, and is filled in again from it', () => {
    fc.assert(
      fc.property(forms, (values) => {
        const profile = profiles[values.profile] ?? local;
        const checked = checkForm(values, profile, { flags, cwd });
        if (!('request' in checked)) {
          // GPUs and the CPU, waiting without GPUs, one launcher a node for the trainer, or a stop
          // without a budget.
          expect(checked.problems).toHaveLength(1);
          return;
        }
        const asked = askedRun(values, profile);
        const line = splitWords(commandLineOf(asked));
        const at = line.indexOf('trainyard');
        expect(line.slice(0, at)).toEqual(asked.cwd === undefined ? [] : ['cd', asked.cwd, '&&']);
        const args = parseVerb(run, line.slice(at + 2));
        expect(args.value('code')).toBe(asked.codeFolder);
        expect(requestOf(typedRun(profile, asked.cwd ?? cwd, args))).toEqual(checked.request);
        const preset = presetOf('p', asked);
        expect(check(presetSchema, JSON.parse(JSON.stringify(preset)))).toMatchObject({ ok: true });
        expect(presetRun(preset, 'other')).toEqual(asked);
        expect(askedRun(formOf(asked), profile)).toEqual(asked);
      }),
    );
  });

  it('opens as a training that works on any machine', () => {
    expect(checkForm(emptyForm('local'), local, { flags, cwd }).problems).toEqual([]);
    expect(commandLineOf(askedRun(emptyForm('local'), local))).toBe(
      'trainyard run local -- train --model resnet20 --data synthetic',
    );
  });

  const problems = (values: Partial<RunFormValues>, profile = lab): string[] =>
    checkForm({ ...emptyForm('lab'), ...values }, profile, { flags, cwd }).problems.map(
      ({ field, error }) => `${field}: ${errorWords(error).replace(/\.$/, '')}`,
    );

  it.each<[Partial<RunFormValues>, string]>([
    [{ data: ' ' }, 'data: no data is chosen. Name a folder of images on the node, or synthetic'],
    [
      { model: 'resnet2' },
      'model: --model must be mlp or resnet20, not "resnet2"; did you mean resnet20? Correct it',
    ],
    [
      { options: { '--epochs': 'many' } },
      '--epochs: --epochs must be a whole number from 0 to 1000000, not "many". Correct it',
    ],
    [{ flags: '--sed 3' }, 'flags: the trainer has no flag --sed. Did you mean --seed?'],
    [
      { flags: '--seed 3 --epochs 2', options: { '--epochs': '1' } },
      '--epochs: --epochs is given twice. Give it once',
    ],
    [{ flags: '--seed "3' }, 'flags: the command line has a " that does not end. Close it'],
    [
      { stage: '/a' },
      'stage: /a does not name two folders. Write FROM:TO, each with a leading / or ~/: /shared/images:/scratch/images',
    ],
    [{ nodes: '3' }, 'nodes: profile lab has 2 nodes, not 3. Use fewer'],
    [{ ranks: 'x' }, 'ranks: the number of ranks must be a whole number from 1, not "x". Correct it'],
    [
      { gpus: '0,0' },
      'gpus: the wish for GPUs names GPU 0 twice. Give a number of GPUs, such as 2, or their indices, such as 0,2',
    ],
    [
      { timeLimit: '2 hours' },
      'timeLimit: the time limit must be from 1s to 365d, not "2 hours". Write, say, 90s, 30m or 2h',
    ],
    [{ name: '***' }, 'name: the name *** has no letter or digit. Choose another'],
    [{ what: 'program' }, 'command: there is nothing to run. Write the command line of your program'],
    [
      { weights: '/w/a', flags: '--init-weights /w/b' },
      'weights: --init-weights is given twice. Give it once',
    ],
    [{ device: 'cpu', gpus: '1' }, ': GPUs were asked for, and the device cpu. Ask for one of them'],
  ])('%j', (values, expected) => {
    expect(problems(values)).toEqual([expected]);
  });

  it.each<[Partial<RunFormValues>, Profile, string]>([
    [
      { budget: 'much' },
      priced,
      'budget: the budget must be an amount above 0, not "much". Write, say, 12.50',
    ],
    [
      { budgetStop: 'stop' },
      hpc,
      'budget: a stop was asked for, and no budget. Give the amount of the budget too',
    ],
    [
      { slurm: { time: 'long' } },
      hpc,
      'slurm.time: "long" is no time limit of Slurm. Write minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS, for example 8:00:00',
    ],
    [
      { nodes: 'two' },
      hpc,
      'nodes: the number of nodes must be a whole number from 1, not "two". Correct it',
    ],
  ])('%j on %o', (values, profile, expected) => {
    expect(problems(values, profile)).toEqual([expected]);
  });

  it('takes as many nodes of Slurm as are asked for, and each of them is in the command line', () => {
    const values = { ...emptyForm('hpc'), nodes: '2', slurm: { partition: 'long', time: '30' }, budget: '7' };
    expect(checkForm(values, hpc, { flags, cwd }).problems).toEqual([]);
    expect(commandLineOf(askedRun(values, hpc))).toBe(
      'trainyard run hpc --nodes 2 --budget 7 --slurm partition=long --slurm time=30 -- train --model resnet20 --data synthetic',
    );
  });

  it('leaves out what the profile has no field for', () => {
    const values = { ...emptyForm('lab'), slurm: { qos: 'high' }, budget: '7', stage: '/a:/b' };
    expect(askedRun(values, lab)).toMatchObject({ stage: { from: '/a' } });
    for (const wish of ['slurm', 'budget', 'budgetStop']) {
      expect(askedRun(values, lab)).not.toHaveProperty(wish);
    }
    expect(askedRun(values, hpc)).toMatchObject({ stage: { from: '/a' } });
  });

  it('does not judge flags that nobody knows yet, nor the nodes of this machine', () => {
    const values = { ...emptyForm('local'), flags: '--sed 3', nodes: '9' };
    expect(checkForm(values, local, { flags: undefined, cwd }).problems).toEqual([]);
  });
});

it('of a run without evaluations leaves out what they are made of and where', () => {
  const words = ['train', '--data', '/d', '--eval-data', '/v', '--eval-on', 'ranks', '--keep', '3'];
  const form = formOf({ profile: 'lab', words, evaluator: false });
  expect([form.evalData, form.flags]).toEqual(['', '--keep 3']);
  const judged = formOf({ profile: 'lab', words });
  expect(judged).toMatchObject({ options: { '--eval-on': 'ranks' }, flags: '--keep 3' });
  expect(formWords(judged)).toContain('--eval-on');
  expect(formWords({ ...judged, evalData: ' ' })).not.toContain('--eval-on');
});

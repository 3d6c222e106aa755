import { expect, it } from 'vitest';
import { argsOf } from '../../../src/cli/sweep/asked.js';
import { verbs } from '../../../src/cli/table.js';
import { typedRun } from '../../../src/cli/typedRun.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import type { AskedRun } from '../../../src/core/plan/request/commandLine.js';
import { askedSweep, commonRun } from '../../../src/core/sweep/asked.js';
import { axesOf } from '../../../src/core/sweep/grid.js';
import { planSweep } from '../../../src/core/sweep/plan.js';

const profile: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a', slots: 4 }, { host: 'b' }] };
const run: AskedRun = {
  profile: 'lab',
  words: ['python3', 'train.py', '--lr', '{lr}'],
  ranks: 2,
  hosts: ['a', 'b'],
  per: 'slot',
  gpus: '1',
  budget: 5,
  budgetStop: false,
  timeLimit: 5400,
  silenceTimeout: 0,
  share: 'checkpoints',
  slurm: { time: '1:00:00' },
  codeFolder: '-code',
  logdir: 'runs',
  evaluator: false,
};
const trials = { settings: ['lr=0.1,0.01', 'x=1..3'], random: 4, metric: 'val/acc', goal: 'max', name: 's' };

it('is what a command line would have given, so that the command line goes on with it', () => {
  const one = { ...run, name: 'mine', notes: 'n', tags: ['t'], tensorboard: true, wait: true, debug: 1 };
  const asked = askedSweep(commonRun(one), trials);
  const known = verbs.find(({ verb }) => verb === 'sweep')?.flags.map(({ name }) => name);
  expect(Object.keys(asked.flags).filter((flag) => known?.includes(flag) !== true)).toEqual([]);
  const args = argsOf(asked);
  expect(args.all('grid')).toEqual(trials.settings);
  expect(['random', 'metric', 'goal', 'name', 'code'].map((flag) => args.value(flag))).toEqual([
    ...['4', 'val/acc', 'max', 's', '-code'],
  ]);
  const typed: Partial<AskedRun> = { ...run };
  delete typed.codeFolder; // it is packed once the sweep starts
  expect(typedRun(profile, '/work', args)).toEqual({
    ...typed,
    ...{ profile, cwd: '/work', name: 's', tags: ['t'], tensorboard: false, wait: false, detached: false },
  });
});

it('plans what each trial runs, and the command that starts it by itself', () => {
  const { codeFolder = '', profile: name, ...base } = run;
  const random = { count: 2, seed: 1 };
  const common = { profile, base: { ...base, cwd: '/work', name: 's' }, codeFolder, flags: [] };
  const asked = askedSweep(run, { ...trials, settings: ['lr=0.1,0.01,1'] });
  const plan = planSweep({ axes: axesOf(['lr=0.1,0.01,1']), random, name: 's' }, common, asked);
  expect(plan.sweep).toMatchObject({ name: 's', profile: name, cwd: '/work', metric: { name: 'loss' } });
  expect(plan.sweep.trials).toHaveLength(2);
  for (const trial of plan.sweep.trials) {
    const { lr = '' } = trial.values;
    expect(plan.typedOf(trial.values).words).toEqual(['python3', 'train.py', '--lr', lr]);
    expect(trial.command).not.toContain('--name');
    expect(trial.command).toContain('--ranks 2 --hosts a,b --per-slot --gpus 1');
    expect(trial.command).toContain(
      `--code=-code --logdir runs --no-evaluator -- python3 train.py --lr ${lr}`,
    );
  }
});

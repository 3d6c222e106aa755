import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { UserError } from '../../../../src/core/base/errors.js';
import type { NodeRuntime } from '../../../../src/core/setup/runtime.js';
import type { Host, Profile } from '../../../../src/core/contracts/profileSchema.js';
import { placeRanks, type NodeOffer, type Placement } from '../../../../src/core/plan/placement.js';
import { requestOf, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { flagValue } from '../../../../src/core/plan/request/flagValue.js';
import {
  absolutePaths,
  cleanLabel,
  positiveInteger,
  withoutFlag,
} from '../../../../src/core/plan/request/flags.js';
import { runSpecSchema, type DeviceChoice } from '../../../../src/core/contracts/runSchema.js';
import { newRunId, planRun } from '../../../../src/core/plan/spec.js';
import { check } from '../../../../src/core/base/validation.js';

const runtime: NodeRuntime = {
  runtimeDir: nodePath('/r'),
  nodeDir: nodePath('/n'),
  agent: nodePath('/n/bin/agent'),
  trainer: nodePath('/n/bin/trainer'),
  mpiexec: nodePath('/r/bin/mpiexec'),
  python: nodePath('/r/bin/python'),
  tensorboardServer: nodePath('/n/share/tensorboard_server.py'),
  hashes: { agent: 'a', trainer: 't', requirements: 'r' },
};
const local: Profile = { name: 'local', kind: 'local' };
const two: Partial<NodeOffer> = { cores: 2 };
const gpus = (count: number): NodeOffer['gpus'] =>
  Array.from({ length: count }, (_, index) => ({ index, busy: undefined }));
function plan(
  words: string[],
  more: Partial<TypedRun> = {},
  offer: Partial<NodeOffer> = two,
): ReturnType<typeof planRun> {
  const request = requestOf({ profile: local, words, cwd: '/home/me', ...more });
  const host = { ...request.profile.hosts?.[0], host: 'me' };
  const offered = { host, address: 'me', cores: 2, gpus: [], isHere: true, ...offer };
  const used = words.some((word) => word.endsWith('cuda')) ? 'cuda' : 'cpu';
  const choice: DeviceChoice | undefined = request.device && { asked: 'auto', used, why: 'of the test' };
  return planRun(request, { placement: placeRanks(request, used, [offered]), choice, runtime });
}
const failure = (...args: Parameters<typeof plan>): UserError => {
  try {
    plan(...args);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it was planned');
};
const train = ['train', '--model', 'resnet20', '--data', 'images/train'];

describe('planRun', () => {
  it('makes a spec that the schema accepts', () => {
    const spec = plan([...train, '--eval-data', '/d/validation', '--run-dir=out']);
    expect(check(runSpecSchema, spec).ok).toBe(true);
    expect(spec).toMatchObject({
      program: 'trainer',
      argv: [
        'train',
        '--model',
        'resnet20',
        '--data',
        '/home/me/images/train',
        '--eval-data',
        '/d/validation',
        '--device',
        'cpu',
      ],
      device: { asked: 'auto', used: 'cpu', why: 'of the test' },
      ranks: 2,
      threadsPerRank: 1,
      evaluator: {
        argv: ['eval', '--data', '/d/validation', '--interval', '2', '--threads', '1'],
        threads: 1,
        nice: 19,
      },
      limits: { hangTimeout: 300, startTimeout: 60, nodeReturnTimeout: 600, maxRestarts: 0 },
      paths: { mpiexec: '/r/bin/mpiexec', trainer: '/n/bin/trainer' },
      totalSteps: null,
    });
    expect(spec).not.toHaveProperty('id');
    expect(plan(train).id).toMatch(/^\d{8}-\d{6}-resnet20-[0-9a-f]{4}$/);
    expect(spec.dir).toBe('/home/me/out');
  });

  it('names the report that starts the run, where one does', () => {
    const report = { kind: 'bakeoff', begun: 1_795_000_000.5 } as const;
    const spec = plan(train, { report });
    expect(spec.report).toEqual(report);
    expect(check(runSpecSchema, spec).ok).toBe(true);
    expect(plan(train)).not.toHaveProperty('report');
  });

  it('names the GPUs of a profile for a run that wants them', () => {
    const four = { cores: 4, gpus: gpus(4) };
    const listed: Profile = { ...local, hosts: [{ host: 'localhost', gpus: [3, 0, 1] }] };
    const cuda = [...train, '--device', 'cuda'];
    expect(plan(cuda, { profile: listed, ranks: 2 }, four)).toMatchObject({ ranks: 2, gpus: [3, 0] });
    expect(plan(cuda, { profile: listed }, four)).toMatchObject({ ranks: 3, gpus: [3, 0, 1] });
    expect(plan(cuda, {}, four)).toMatchObject({ ranks: 4, gpus: [0, 1, 2, 3] });
    expect(plan(cuda, {}, { gpus: gpus(3).slice(1) })).toMatchObject({ ranks: 2, gpus: [1, 2] });
    expect(plan(train, { profile: listed }, four).gpus).toBeNull();
    expect(check(runSpecSchema, plan(cuda, { profile: listed }, four)).ok).toBe(true);
  });

  it('takes limits and environment from the profile', () => {
    const profile = { ...local, hangTimeout: 20, maxRestarts: 2, env: { A: 'b' } };
    expect(plan(train, { profile })).toMatchObject({
      limits: { hangTimeout: 20, maxRestarts: 2 },
      env: { A: 'b' },
    });
  });

  it('says of an own program how many processes a node has, its prologue and its time to stop', () => {
    const profile = { ...local, prologue: 'module load cuda', hosts: [{ host: 'me', slots: 4 }] };
    const perNode = plan(['torchrun', 'x.py'], { profile, per: 'node' });
    expect(check(runSpecSchema, perNode).ok).toBe(true);
    expect(perNode).toMatchObject({
      ranks: 1,
      perNode: true,
      workers: 4,
      prologue: 'module load cuda',
      limits: { stopGrace: 30 },
    });
    const cuda = ['python', 'x.py', '--device', 'cuda'];
    const perSlot = plan(cuda, { per: 'slot', profile: { ...local, stopGrace: 5 } }, { gpus: gpus(3) });
    expect(perSlot).toMatchObject({ ranks: 3, gpus: [0, 1, 2], limits: { stopGrace: 5 } });
    expect(perSlot).not.toHaveProperty('perNode');
    expect(plan(train).limits).not.toHaveProperty('stopGrace');
    expect(failure(train, { per: 'node' }).message).toMatch(/one process for each slot, not for each node/);
    expect(plan(['eval', '--data', '/d'], { per: 'slot' })).toMatchObject({ ranks: 2 });
  });

  it('has a limit of silence for an own program alone, of the run before that of the profile', () => {
    const profile = { ...local, silenceTimeout: 600 };
    expect(plan(['make'], { profile }).limits).toMatchObject({ silenceTimeout: 600 });
    const off = plan(['make'], { profile, silenceTimeout: 0 });
    expect(off.limits).toMatchObject({ silenceTimeout: 0 });
    expect(check(runSpecSchema, off).ok).toBe(true);
    expect(plan(['make']).limits).not.toHaveProperty('silenceTimeout');
    expect(plan(train, { profile }).limits).not.toHaveProperty('silenceTimeout');
    expect(plan(['eval', '--data', '/d'], { profile }).limits).not.toHaveProperty('silenceTimeout');
    expect(failure(train, { silenceTimeout: 5 }).message).toMatch(/for programs of your own/);
  });

  it('says who is told of what, but not for a report', () => {
    const profile: Profile = { ...local, notify: { webhookFile: '~/.hook' } };
    const told = plan(train, { profile });
    expect(told.notify).toEqual({
      webhookFile: '~/.hook',
      on: ['finished', 'failed', 'stopped', 'restarting', 'stalled', 'budget'],
    });
    expect(check(runSpecSchema, told).ok).toBe(true);
    const chosen: Profile = { ...local, notify: { command: ['tell'], on: ['failed'] } };
    expect(plan(train, { profile: chosen }).notify).toEqual({ command: ['tell'], on: ['failed'] });
    expect(plan(train, { profile, report: { kind: 'scaling', begun: 1 } })).not.toHaveProperty('notify');
    expect(plan(train)).not.toHaveProperty('notify');
  });

  it('evaluates only training, with data for it, and when wanted', () => {
    expect(plan(train).evaluator).toBeNull();
    expect(plan([...train, '--eval-data', '/v'], { evaluator: false }).evaluator).toBeNull();
    expect(plan(['python', 'x.py', '--eval-data', '/v']).evaluator).toBeNull();
    const byRanks = [...train, '--eval-data', '/v', '--eval-on', 'ranks'];
    expect(plan(byRanks).evaluator).toBeNull();
    expect(plan(byRanks).argv).toContain('--eval-on');
    expect(plan([...train, '--eval-data', '/v', '--eval-on=head']).evaluator).not.toBeNull();
    const never = plan(byRanks, { evaluator: false });
    expect(never.evaluator).toBeNull();
    expect(never.argv).not.toContain('--eval-on');
  });

  it('has one rank for everything but training', () => {
    expect(plan(['prep', '--from', 'demo:5x400', '--to', 'x'])).toMatchObject({
      program: 'command',
      ranks: 1,
      argv: ['/n/bin/trainer', 'prep', '--from', 'demo:5x400', '--to', '/home/me/x'],
    });
    const evaluation = plan(['trainer', 'eval', '--run-dir', 'r', '--data', '/d', '--once']);
    expect(evaluation.argv).toEqual([
      '/n/bin/trainer',
      'eval',
      '--run-dir',
      '/home/me/r',
      '--data',
      '/d',
      '--once',
    ]);
    expect(evaluation.id).toMatch(/-eval-/);
    expect(evaluation).not.toHaveProperty('dir');
    expect(plan(['torchrun', 'train.py', '--data', 'x'])).toMatchObject({
      program: 'command',
      ranks: 1,
      argv: ['torchrun', 'train.py', '--data', 'x'],
    });
  });

  it.each<[string[], Partial<TypedRun>, Partial<NodeOffer>, string, RegExp]>([
    [train, { ranks: 3 }, two, 'preflight', /3 ranks were asked for, and there are slots for 2/],
    [[...train, '--device', 'cuda'], {}, two, 'preflight', /has a free GPU/],
    [[...train, '--device', 'cuda'], { ranks: 9 }, { gpus: gpus(8) }, 'preflight', /slots for 8/],
    [[], {}, two, 'usage', /nothing to run/],
    [['trainer'], {}, two, 'usage', /nothing to run/],
    [train, { name: '!!' }, two, 'usage', /the name !! has no letter or digit/],
  ])('refuses what cannot be (%#)', (words, more, offer, code, expected) => {
    const error = failure(words, more, offer);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(expected);
  });

  it('spreads a run over a cluster, whose paths are read on its nodes', () => {
    const profile: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }], minNodes: 5 };
    const nodes = ['a', 'b'].map((host) => ({ host, address: host, slots: 2, gpus: null }));
    const placement: Placement = { nodes, ranks: 4, threadsPerRank: 3 };
    const words = [...train, '--eval-data', '~/validation', '--resume', 'auto', '--run-dir', 'mine'];
    const request = requestOf({ profile, words, cwd: '/home/me' });
    const spec = planRun(request, { placement, choice: undefined, runtime, home: nodePath('/root') });
    expect(check(runSpecSchema, spec).ok).toBe(true);
    expect(spec).toMatchObject({
      argv: [...train.slice(0, 4), '~/images/train', '--eval-data', '~/validation', '--resume', 'auto'],
      evaluator: { argv: ['eval', '--data', '/root/validation', '--interval', '2', '--threads', '1'] },
      dir: '~/mine',
      ranks: 4,
      threadsPerRank: 3,
      launcher: 'manual',
      nodes,
      interface: 'auto',
      portRange: '47000-47100',
      minNodes: 2,
    });
    expect(spec).not.toHaveProperty('cwd');
  });

  it('counts spares among the nodes that it holds, and allows a restart for each', () => {
    const profile: Profile = {
      name: 'lab',
      kind: 'ssh',
      hosts: [{ host: 'a' }, { host: 'b' }, { host: 'c' }],
    };
    const [a, b] = ['a', 'b'].map((host) => ({ host, address: host, slots: 2, gpus: null }));
    const c = { host: 'c', address: 'c', slots: 2, gpus: null, spare: true as const };
    const placement = { nodes: [a, b, c], ranks: 4, threadsPerRank: 3 } as Placement;
    const planned = (more: Partial<Profile>): ReturnType<typeof planRun> => {
      const request = requestOf({ profile: { ...profile, spares: 1, ...more }, words: train, cwd: '/' });
      return planRun(request, { placement, choice: undefined, runtime, home: nodePath('/root') });
    };
    expect(check(runSpecSchema, planned({})).ok).toBe(true);
    expect(planned({})).toMatchObject({ minNodes: 2, limits: { maxRestarts: 1 }, nodes: [a, b, c] });
    expect(planned({ maxRestarts: 0, minNodes: 1 })).toMatchObject({
      minNodes: 1,
      limits: { maxRestarts: 0 },
    });
  });

  it('names the mirror where that is a node of the run and not its head', () => {
    const hosts = [{ host: 'a' }, { host: 'b' }, { host: 'c' }];
    const nodes = ['a', 'b'].map((host) => ({ host, address: host, slots: 1, gpus: null }));
    const mirrorOf = (mirror: string): string | undefined => {
      const profile: Profile = { name: 'lab', kind: 'ssh', hosts, mirror };
      const placement = { nodes, ranks: 2, threadsPerRank: 1 } as Placement;
      const request = requestOf({ profile, words: train, cwd: '/' });
      return planRun(request, { placement, choice: undefined, runtime, home: nodePath('/root') }).mirror;
    };
    expect(['a', 'b', 'c'].map(mirrorOf)).toEqual([undefined, 'b', undefined]);
  });

  it('evaluates beside ranks on GPUs with half of the cores that a rank has', () => {
    const evaluated = [...train, '--eval-data', '/d/validation', '--device', 'cuda'];
    const threadsOf = (cores: number): unknown => plan(evaluated, {}, { cores, gpus: gpus(2) }).evaluator;
    const argv = (threads: string): string[] => [
      'eval',
      '--data',
      '/d/validation',
      '--interval',
      '2',
      '--threads',
      threads,
    ];
    expect(threadsOf(16)).toEqual({ argv: argv('4'), threads: 4, nice: 19 });
    expect(threadsOf(2)).toEqual({ argv: argv('1'), threads: 1, nice: 19 });
  });

  it('gives a run on one node alone an address that nobody has to resolve, or the profile’s', () => {
    const nodes = [{ host: 'lab1', address: 'lab1', slots: 2, gpus: null }];
    const placement: Placement = { nodes, ranks: 2, threadsPerRank: 1 };
    const addresses = (host: Host): unknown => {
      const profile: Profile = { name: 'lab', kind: 'ssh', hosts: [host, { host: 'b' }] };
      const request = requestOf({ profile, words: train, cwd: '/home/me' });
      const place = { placement, choice: undefined, runtime, home: nodePath('/root') };
      return planRun(request, place).nodes?.map(({ address }) => address);
    };
    expect(addresses({ host: 'lab1' })).toEqual(['127.0.0.1']);
    expect(addresses({ host: 'lab1', address: '10.0.0.5' })).toEqual(['10.0.0.5']);
  });

  it('takes the run folder from either side', () => {
    expect(plan(['python', 'x', '--run-dir', 'mine'])).toMatchObject({
      argv: ['python', 'x', '--run-dir', 'mine'],
      cwd: '/home/me',
    });
    expect(plan(['python', 'x', '--run-dir', 'mine']).dir).toBeUndefined();
    expect(plan(['python', 'x'], { runDir: nodePath('/a/b') }).dir).toBe('/a/b');
  });
});

it('newRunId sorts by time, in UTC', () => {
  const id = newRunId('mlp', new Date('2026-11-21T10:45:00.9Z'));
  expect(id).toMatch(/^20261121-104500-mlp-[0-9a-f]{4}$/);
});

describe('flags', () => {
  it('in both forms, the last one counting', () => {
    expect(flagValue(['--data', 'a', '--data=b'], '--data')).toBe('b');
    expect(flagValue(['--data-x', 'a'], '--data')).toBeUndefined();
    expect(withoutFlag(['a', '--run-dir', 'x', '--run-dir=y', 'b', '--run-dirs'], '--run-dir')).toEqual([
      'a',
      'b',
      '--run-dirs',
    ]);
  });

  it('with paths become absolute, with names stay', () => {
    const words = [
      '--data',
      'synthetic:10x32',
      '--eval-data=v',
      '--resume',
      'auto',
      '--init-weights',
      '../w',
      '--from',
      'demo:5x4',
      '--checkpoint',
      './c',
      '--to',
      '/abs',
      '--model',
      'data',
    ];
    expect(absolutePaths(words, nodePath('/home/me'))).toEqual([
      '--data',
      'synthetic:10x32',
      '--eval-data=/home/me/v',
      '--resume',
      'auto',
      '--init-weights',
      '/home/w',
      '--from',
      'demo:5x4',
      '--checkpoint',
      '/home/me/c',
      '--to',
      '/abs',
      '--model',
      'data',
    ]);
  });

  it('in the home folder are whole where this machine reads them', () => {
    const words = ['--data', '~/a', '--eval-data=~'];
    expect(absolutePaths(words, nodePath('/me'))).toEqual([
      '--data',
      `${homedir()}/a`,
      `--eval-data=${homedir()}`,
    ]);
    expect(absolutePaths(words, nodePath('~'))).toEqual(words);
  });

  it('with addresses stay as they are', () => {
    const words = ['--from', 'https://h/a.tar', '--validation-from', 's3://b/v.tar', '--labels', 'l.txt'];
    expect(absolutePaths(words, nodePath('/me'))).toEqual([...words.slice(0, 5), '/me/l.txt']);
  });

  it('labels are easy in folder names', () => {
    expect(cleanLabel('My Run/№1 ')).toBe('my-run-1');
    expect(cleanLabel('../../..')).toBe('');
    expect(cleanLabel('x'.repeat(99))).toHaveLength(40);
  });

  it('whole numbers', () => {
    expect(positiveInteger('12', '--ranks')).toBe(12);
    for (const text of ['0', '-1', '1.5', 'x', '', '1e3']) {
      expect(() => positiveInteger(text, '--ranks')).toThrow(UserError);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { UserError } from '../../../../src/core/base/errors.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { placeRun } from '../../../../src/core/plan/device.js';
import type { NodeOffer } from '../../../../src/core/plan/placement.js';
import { timeLimitAgain, typedOf } from '../../../../src/core/plan/request/recordedRun.js';
import {
  ofOurTrainer,
  requestOf,
  type RunRequest,
  type TypedRun,
} from '../../../../src/core/plan/request/request.js';
import { resumeCommand } from '../../../../src/core/plan/resume.js';
import { planRun } from '../../../../src/core/plan/spec.js';
import { joinWords, splitWords } from '../../../../src/core/plan/request/argv.js';

const profiles: readonly Profile[] = [
  { name: 'local', kind: 'local' },
  { name: 'lab', kind: 'ssh', hosts: [{ host: 'a', slots: 4 }] },
];
const cwd = '/home/me';
const runtime = {
  runtimeDir: nodePath('/r'),
  nodeDir: nodePath('/n'),
  agent: nodePath('/n/bin/agent'),
  trainer: nodePath('/n/bin/trainer'),
  mpiexec: nodePath('/r/bin/mpiexec'),
  python: nodePath('/r/bin/python'),
  tensorboardServer: nodePath('/n/share/tensorboard_server.py'),
  hashes: { agent: 'a', trainer: 't', requirements: 'r' },
};

/** `--name VALUE` or `--name=VALUE`. */
const flag = (name: string, values: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc
    .tuple(values, fc.boolean())
    .map(([value, joined]) => (joined ? [`--${name}=${value}`] : [`--${name}`, value]));
const places = fc.constantFrom('synthetic', '/d/images', 'images/my train', '~/images', "it's/here");
const flags = fc
  .tuple(
    flag('data', places),
    ...[
      flag('eval-data', places),
      flag('device', fc.constantFrom('auto', 'cpu', 'cuda')),
      flag('run-dir', places),
      flag('lr', fc.constantFrom('0.1', '1e-3')),
    ].map((one) => fc.option(one, { nil: [] })),
  )
  .chain((parts) => fc.shuffledSubarray(parts, { minLength: parts.length }))
  .map((parts) => parts.flat());
const words = fc.oneof(
  flags.map((some) => ['train', '--model', 'mlp', ...some]),
  flags.map((some) => ['trainer', 'train', ...some]),
  flags.map((some) => ['eval', ...some]),
  flags.map((some) => ['bench', 'matmul', ...some]),
  flags.map((some) => ['make', 'train', ...some]),
  flags.map((some) => ['python', 'train.py', ...some]),
);
const typedRuns: fc.Arbitrary<TypedRun> = fc
  .tuple(
    fc.constantFrom(...profiles),
    words,
    fc.record(
      { ranks: fc.integer({ min: 1, max: 4 }), nodes: fc.constant(1), runDir: places },
      { requiredKeys: [] },
    ),
    fc.record({ tensorboard: fc.boolean(), evaluator: fc.boolean() }),
  )
  .map(([profile, typed, numbers, switches]) => ({ profile, cwd, words: typed, ...numbers, ...switches }));

/** The words after `trainyard run`. */
const commandLine = ({ profile, ...typed }: TypedRun): string[] => {
  const { cwd: folder, code, ...asked } = typed;
  expect([folder, code]).toEqual([cwd, undefined]);
  return splitWords(commandLineOf({ ...asked, profile: profile.name })).slice(2);
};

/** As `trainyard run` reads it. */
const read = (profile: Profile, line: readonly string[]): RunRequest =>
  requestOf(typedRun(profile, cwd, parseVerb(run, line)));

/** The record of a run of `request` in `dir`, on a node with GPUs. */
async function recordOf(request: RunRequest, dir: string): Promise<RunFile> {
  const isHere = request.profile.kind === 'local';
  const host = { slots: 4, ...request.profile.hosts?.[0], host: 'a' };
  const gpus = [0, 1, 2, 3].map((index) => ({ index, busy: undefined }));
  const offer: NodeOffer = { host, address: 'a', cores: 8, gpus, isHere };
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);
  const placed = await placeRun(request, [offer], { before: nothing, backEnd: nothing });
  const home = isHere ? {} : { home: nodePath('/root') };
  return {
    ...planRun(request, { ...placed, runtime, ...home }),
    id: 'x',
    created: 1,
    ...{ dir: nodePath(dir) },
  };
}

describe('one request', () => {
  it('is the same from the command line, from the form and from the record of a run', async () => {
    await fc.assert(
      fc.asyncProperty(typedRuns, async (typed) => {
        const request = requestOf(typed);
        expect(read(typed.profile, commandLine(typed))).toEqual(request);
        expect(requestOf({ ...typed, words: splitWords(joinWords(typed.words)) })).toEqual(request);

        const dir = nodePath('/runs/x');
        const record = await recordOf(request, dir);
        const again = splitWords(resumeCommand({ run: record, dir }, typed.profile.name) ?? '');
        expect(again.slice(0, 2)).toEqual(['trainyard', 'run']);
        const resumed = read(typed.profile, again.slice(2));
        const nodes = typed.profile.kind === 'local' ? undefined : 1;
        const device = record.device?.used ?? request.device;
        expect(resumed).toEqual({ ...request, device, runDir: dir, ranks: record.ranks, nodes });
        const { device: chosen, ...rest } = await recordOf(resumed, dir);
        const { device: before, ...restBefore } = record;
        expect(chosen?.used).toBe(before?.used);
        expect(rest).toEqual(restBefore);
      }),
    );
  });
});

describe('requestOf', () => {
  const of = (typed: string[], more: Partial<TypedRun> = {}): RunRequest =>
    requestOf({ profile: { name: 'local', kind: 'local' }, words: typed, cwd, ...more });

  it('reads what a training is told', () => {
    const typed = [
      ...['train', '--model', 'mlp', '--device=cuda', '--data', 'images', '--eval-data', 'synthetic'],
      ...['--run-dir', 'mine'],
    ];
    expect(of(typed)).toMatchObject({
      kind: 'train',
      label: 'mlp',
      device: 'cuda',
      data: [{ name: 'data', path: '/home/me/images' }],
      evaluatedOn: 'synthetic',
      runDir: '/home/me/mine',
      everySlot: true,
      argv: ['train', '--model', 'mlp', '--data', '/home/me/images', '--eval-data', 'synthetic'],
    });
    expect(ofOurTrainer(of(typed))).toBe(true);
    expect(ofOurTrainer(of(['bench', 'matmul']))).toBe(true);
    expect(of(typed, { evaluator: false })).toMatchObject({ evaluatedOn: undefined });
    expect(of(typed, { runDir: '/other' }).runDir).toBe('/other');
  });

  it.each([
    [['make', 'train', '--device', 'cuda', '--data', '/nowhere', '--run-dir', 'x', '--eval-data', '/v']],
    [['sh', '-c', 'echo', 'bench', 'matmul', '--device', 'gpu', '--device', 'cuda']],
  ])('takes %j for the own program that it is', (typed) => {
    const request = of(typed);
    expect(ofOurTrainer(request)).toBe(false);
    expect(request).toEqual({
      kind: 'command',
      ofTrainer: false,
      profile: { name: 'local', kind: 'local' },
      label: typed[0],
      device: 'cuda',
      data: [],
      everySlot: false,
      perNode: false,
      argv: typed,
      cwd,
      tensorboard: false,
      wait: false,
      detached: false,
      ranks: undefined,
      nodes: undefined,
      runDir: undefined,
    });
  });

  it.each([
    [['train', '--device', 'gpu'], /the device must be auto, cpu or cuda, not "gpu"/],
    [['train', '--device', 'cpu', '--device=cuda'], /--device is given 2 times/],
    [['train', '--data', 'a', '--data', 'b'], /--data is given 2 times/],
    [['train', '--run-dir', 'a', '--run-dir', 'b'], /--run-dir is given 2 times/],
  ])('refuses %j', (typed, expected) => {
    expect(() => of(typed)).toThrow(UserError);
    expect(() => of(typed)).toThrow(expected);
  });
});

it('is for auto where a training does not say, and leaves other verbs to themselves', () => {
  const of = (...typed: string[]): RunRequest => requestOf({ profile: profiles[0]!, words: typed, cwd });
  expect(of('train').device).toBe('auto');
  expect(of('eval', '--device', 'auto').device).toBe('auto');
  expect(of('eval').device).toBeUndefined();
  expect(of('python', 'train.py').device).toBeUndefined();
});

describe('what a run asked for', () => {
  const record = (typed: string[]): Promise<RunFile> =>
    recordOf(requestOf({ profile: profiles[0]!, words: typed, cwd }), '/runs/x');

  it('names a verb of the trainer, wherever its program lies', async () => {
    const typed = ['eval', '--run-dir', '/r', '--data', '/d', '--once'];
    const run = await record(typed);
    expect(run.argv[0]).toBe('/n/bin/trainer');
    expect(typedOf(run).words).toEqual(typed);
  });

  it('keeps the time limit, but not that of a short run of a report', async () => {
    const typed = { profile: profiles[0]!, words: ['true'], cwd, timeLimit: 90 };
    const run = await recordOf(requestOf(typed), '/runs/x');
    expect(timeLimitAgain(run)).toEqual({ timeLimit: 90 });
    expect(timeLimitAgain({ ...run, report: { kind: 'scaling', begun: 5 } })).toEqual({});
    const trial = { ...run, report: { kind: 'sweep' as const, begun: 5, trial: 1 } };
    expect(timeLimitAgain(trial)).toEqual({ timeLimit: 90 });
    expect(typedOf(run)).not.toHaveProperty('timeLimit'); // with which a resume begins
  });

  it('keeps the device that a run used', async () => {
    const run = await record(['train', '--data', 'synthetic']);
    expect(run.device).toEqual({ asked: 'auto', used: 'cuda', why: 'free GPUs: 4 on a' });
    expect(typedOf(run).words.slice(-2)).toEqual(['--device', 'cuda']);
    const { device, ...older } = run;
    expect(device).toBeDefined();
    const cpu = { ...older, argv: ['train', '--data', 'synthetic'] };
    expect(typedOf(cpu).words.slice(-2)).toEqual(['--device', 'cpu']);
    expect(typedOf({ ...cpu, program: 'command' }).words).toEqual(cpu.argv);
  });
});

describe('what is staged', () => {
  const staging: Profile = {
    ...profiles[0]!,
    stage: { from: 'gpu2:/shared/images', to: '/scratch/images' },
  };
  const asked = (profile: Profile, ...words: string[]): RunRequest['stage'] =>
    requestOf(typedRun(profile, cwd, parseVerb(run, [profile.name, ...words, '--', 'train']))).stage;

  it('is that of the profile, unless the command line names another', () => {
    expect(asked(staging)).toEqual({ host: 'gpu2', from: '/shared/images', to: '/scratch/images' });
    expect(asked(staging, '--stage', '~/a:~/b')).toEqual({ host: undefined, from: '~/a', to: '~/b' });
    expect(asked(profiles[0]!)).toBeUndefined();
  });

  it('is refused where it does not name two folders', () => {
    expect(() => asked(staging, '--stage', '/a')).toThrow('/a does not name two folders');
  });
});

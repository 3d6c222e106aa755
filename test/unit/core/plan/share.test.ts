// The folder that an own program's other nodes get from the head: how it is asked for, and kept.
import { expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { check } from '../../../../src/core/base/validation.js';
import { specOf } from '../../../../src/core/cluster/slurmSpec.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { runSpecSchema, type RunFile, type StartSpec } from '../../../../src/core/contracts/runSchema.js';
import type { PlacedRun } from '../../../../src/core/plan/device.js';
import type { Placement } from '../../../../src/core/plan/placement.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { withKept } from '../../../../src/core/plan/request/keptWishes.js';
import { typedOf } from '../../../../src/core/plan/request/recordedRun.js';
import { requestOf, type RunRequest, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { shareOf } from '../../../../src/core/plan/request/share.js';
import { resumedRun, resumeCommand } from '../../../../src/core/plan/resume.js';
import { planRun } from '../../../../src/core/plan/spec.js';
import type { NodeRuntime } from '../../../../src/core/setup/runtime.js';
import type { Allocation } from '../../../../src/core/slurm/allocation.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
const own = ['python3', 'train.py'];
const asked = (more: Partial<TypedRun> = {}): RunRequest =>
  requestOf({ profile: lab, words: own, cwd: '/', ...more });
const placement = (...hosts: string[]): Placement => ({
  nodes: hosts.map((host) => ({ host, address: host, slots: 1, gpus: null })),
  ranks: hosts.length,
  threadsPerRank: 1,
});
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
const home = nodePath('/root');
const planned = (request: RunRequest, ...hosts: string[]): StartSpec =>
  planRun(request, { placement: placement(...hosts), choice: undefined, runtime, home });
const recorded = (request: RunRequest): RunFile => ({ ...planned(request, 'a', 'b'), id: 'r', created: 1 });

it.each([
  ['checkpoints', 'checkpoints'],
  ['./checkpoints/', 'checkpoints'],
  ['.//outputs/of a run//', 'outputs/of a run'],
  ['nodes2/code', 'nodes2/code'],
  ['.hidden/..x', '.hidden/..x'],
  ['é'.repeat(256), 'é'.repeat(256)],
])('%j is the folder %j', (text, folder) => {
  expect(shareOf(text, 'it')).toBe(folder);
});

it.each([
  ['', /it must name a folder below the run's folder/],
  ['/', /must name a folder/],
  ['/scratch/ckpt', /must be relative to the run's folder, not "\/scratch\/ckpt"/],
  ['~/ckpt', /must be relative to the run's folder, not "~\/ckpt"/],
  ['.', /must not have an empty part, "." or ".."/],
  ['./', /must not have an empty part/],
  ['a//b', /must not have an empty part, "." or "..", as "a\/\/b" has/],
  ['a/./b', /must not have an empty part/],
  ['../other', /must not have an empty part/],
  ['a/..', /must not have an empty part/],
  ['a\nb', /must not contain line breaks/],
  ['code/outputs', /must leave out "code\/", with which "code\/outputs" begins/],
  ['./code', /must leave out "code\/"/],
  ['nodes', /must not begin with "nodes", where the run keeps files of its own/],
  ['heartbeats/x', /must not begin with "heartbeats"/],
  ['processes', /must not begin/],
  ['mirror/a', /must not begin/],
  ['former', /must not begin/],
  ['é'.repeat(257), /must have at most 512 bytes/],
])('refuses %j', (text, message) => {
  expect(() => shareOf(text, 'it')).toThrow(message);
  expect(() => asked({ share: text })).toThrow(/^the folder for the nodes must/);
});

it('is read from the command line, and named there where it is wrong', () => {
  const typed = (folder: string): TypedRun =>
    typedRun(lab, '/', parseVerb(run, ['lab', '--share', folder, '--', ...own]));
  expect(typed('./ckpt/').share).toBe('ckpt');
  expect(() => typed('/ckpt')).toThrow(/^--share must be relative to the run's folder/);
  expect(commandLineOf({ profile: 'lab', words: own, share: 'ckpt' })).toBe(
    'trainyard run lab --share ckpt -- python3 train.py',
  );
});

it("goes before the profile's, and is for an own program alone", () => {
  const profile = { ...lab, share: './checkpoints/' };
  expect(asked()).toMatchObject({ share: undefined });
  expect(asked({ profile })).toMatchObject({ share: 'checkpoints' });
  expect(asked({ profile, share: 'mine' })).toMatchObject({ share: 'mine' });
  const training = { profile, words: ['train', '--model', 'mlp', '--data', 'synthetic'] };
  expect(planned(asked(training), 'a', 'b')).not.toHaveProperty('share');
  expect(planned(asked({ ...training, words: ['eval', '--data', '/d'] }), 'a', 'b')).not.toHaveProperty(
    'share',
  );
  expect(() => asked({ ...training, share: 'mine' })).toThrow(
    'a folder is copied to the nodes for programs of your own, and train is a verb of the trainer',
  );
});

it('is recorded with any run of an own program, as it may go on on more nodes', () => {
  const request = asked({ share: 'mine' });
  const two = planned(request, 'a', 'b');
  expect(two).toMatchObject({ share: 'mine', launcher: 'manual' });
  expect(check(runSpecSchema, two).ok).toBe(true);
  expect(planned(request, 'a')).toMatchObject({ share: 'mine' });
  const here = asked({ share: 'mine', profile: { name: 'local', kind: 'local' } });
  const onThis = planRun(here, { placement: placement('me'), choice: undefined, runtime });
  expect(onThis).toMatchObject({ share: 'mine' });
});

it('is left out of a job of Slurm, whose nodes see one run folder', () => {
  const profile: Profile = { name: 'hpc', kind: 'slurm', hosts: [{ host: 'login' }] };
  const request = asked({ share: 'mine', profile });
  const allocation: Allocation = {
    fields: {},
    nodes: 2,
    slots: 1,
    gpusPerNode: 0,
    cpusPerTask: 1,
  };
  const placed: PlacedRun = { placement: placement('n1', 'n2'), device: 'cpu', choice: undefined };
  const job = { request, allocation, placed, runtime, before: undefined, release: undefined };
  expect(specOf(planned(request, 'n1', 'n2'), job).share).toBeUndefined();
});

it('is kept where the run goes on or is started once more, unless another one is asked for', () => {
  const record = recorded(asked({ share: 'mine' }));
  expect(typedOf(record).share).toBe('mine');
  expect(withKept({ name: 'other', kind: 'local' }, { words: own, share: 'mine', budget: 2 })).toEqual({
    words: own,
    share: 'mine',
  });
  const entry = { id: 'r', dir: nodePath('/r'), run: record, state: null, interrupted: true };
  const profile = { ...lab, share: 'of-profile' };
  expect(resumedRun(entry, profile, '/').share).toBe('mine');
  expect(resumedRun(entry, profile, '/', { share: 'new' }).share).toBe('new');
  expect(resumeCommand(entry, 'lab')).toContain('--share mine -- python3 train.py');
  const without = { ...entry, run: recorded(asked()) };
  expect(resumedRun(without, profile, '/')).not.toHaveProperty('share');
  expect(requestOf(resumedRun(without, profile, '/'))).toMatchObject({ share: 'of-profile' });
});

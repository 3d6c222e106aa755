import { describe, expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { errorWords } from '../../../../src/cli/remedies.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { runFrom, typedFrom } from '../../../../src/cli/verbs/runFrom.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { UserError } from '../../../../src/core/base/errors.js';
import { runFromCheckpoint } from '../../../../src/core/checkpoints/begin.js';
import { runFileSchema, type RunFile } from '../../../../src/core/contracts/runSchema.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { placeRun, type PlacedRun } from '../../../../src/core/plan/device.js';
import { checkForm } from '../../../../src/core/plan/form/runFormCheck.js';
import { emptyForm, formOf } from '../../../../src/core/plan/form/runForm.js';
import {
  noGpusFor,
  placeRanks,
  type NodeOffer,
  type Placement,
} from '../../../../src/core/plan/placement.js';
import type { AskedRun } from '../../../../src/core/plan/request/commandLine.js';
import { keptHosts, resumedHosts } from '../../../../src/core/plan/request/hostWish.js';
import { typedOf } from '../../../../src/core/plan/request/recordedRun.js';
import { requestOf, type RunRequest, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { planRun } from '../../../../src/core/plan/spec.js';
import { withoutLostHosts } from '../../../../src/ui/form/lostHosts.js';

const names = ['gpu1', 'gpu2', 'gpu3'];
const lab: Profile = { name: 'lab', kind: 'ssh', hosts: names.map((host) => ({ host, slots: 2 })) };
const train = ['train', '--data', 'synthetic'];
const on = (hosts: readonly string[] | undefined, more: Partial<TypedRun> = {}): RunRequest =>
  requestOf({ profile: lab, words: train, cwd: '/', ...(hosts ? { hosts } : {}), ...more });
/** As `trainyard run lab` reads it. */
const typed = (...words: string[]): TypedRun =>
  typedRun(lab, '/', parseVerb(run, ['lab', ...words, '--', ...train]));

const gpu = (index: number, busy?: string): NodeOffer['gpus'][number] => ({ index, busy });
const offers = (gpus: Record<string, NodeOffer['gpus']> = {}, { hosts = [] }: Profile = lab): NodeOffer[] =>
  hosts.map((host) => ({ host, address: host.host, cores: 8, gpus: gpus[host.host] ?? [] }));
const slotsOf = ({ nodes }: Placement): Record<string, number> =>
  Object.fromEntries(nodes.map(({ host, slots }) => [host, slots]));

const nothing = (): Promise<undefined> => Promise.resolve(undefined);
const placed = (request: RunRequest, some: readonly NodeOffer[]): Promise<PlacedRun> =>
  placeRun(request, some, { before: nothing, backEnd: nothing });

describe('hosts that are named', () => {
  it('stand on the command line with commas between them', () => {
    expect(typed('--hosts', 'gpu1,gpu3')).toMatchObject({ hosts: ['gpu1', 'gpu3'] });
    expect(typed()).not.toHaveProperty('hosts');
    expect(requestOf(typed('--hosts=gpu3, gpu1')).hosts).toEqual(['gpu3', 'gpu1']);
  });

  it.each([
    ['', '--hosts names no host'],
    [',', '--hosts names no host'],
    ['gpu1,', '--hosts has a comma too many: "gpu1,"'],
    ['gpu1,,gpu3', '--hosts has a comma too many: "gpu1,,gpu3"'],
  ])('are no list in "%s"', (text, what) => {
    const hint = 'Write their names with commas between, such as gpu1,gpu3';
    const expected = new UserError('usage', what, hint);
    expect(() => typed(`--hosts=${text}`)).toThrow(expected);
  });

  it.each<[readonly string[], Partial<TypedRun>, string, string]>([
    [
      ['gpu1', 'gpv3'],
      {},
      'gpv3 is no host of profile lab',
      'Did you mean gpu3? Its hosts are gpu1, gpu2, gpu3',
    ],
    [['login'], {}, 'login is no host of profile lab', 'Its hosts are gpu1, gpu2, gpu3'],
    [['gpu1', 'gpu3', 'gpu1'], {}, 'gpu1 is named twice', 'Name each host once'],
    [[], {}, 'no host is named', 'Name one'],
    [['gpu1'], { nodes: 1 }, 'hosts were named, and a number of nodes was given too', 'Leave the number out'],
    [
      ['gpu1', 'gpu3'],
      { words: ['python', 'a.py'] },
      '2 hosts were named, and this run is one process',
      'Name one',
    ],
    [
      ['me'],
      { profile: { name: 'local', kind: 'local' } },
      'hosts were named, and profile local is this machine alone',
      'choose a profile of kind ssh',
    ],
    [
      ['n1', 'n2'],
      { profile: { name: 'hpc', kind: 'slurm', hosts: [{ host: 'login' }] } },
      'hosts were named, and Slurm chooses the nodes of profile hpc',
      'Slurm takes "--nodelist=n1,n2" in "lines" of the profile',
    ],
    [
      ['gpu1', 'gpu2'],
      { profile: { ...lab, hosts: [{ host: 'gpu1', slots: 0 }, { host: 'gpu2' }] } },
      'gpu1 takes no rank: its slots in profile lab are 0',
      'Leave it out',
    ],
  ])('%j with %j are refused', (hosts, more, what, hint) => {
    const expected = { code: 'usage', what, hint: expect.stringContaining(hint) as unknown };
    expect(() => on(hosts, more)).toThrow(expect.objectContaining(expected));
  });

  it('or a number of nodes are refused for one process, but in a job of Slurm, which may start more', () => {
    const words = ['python', 'a.py'];
    const several = (more: Partial<TypedRun>): unknown =>
      requestOf({ profile: lab, words, cwd: '/', nodes: 2, ...more }).nodes;
    expect(() => several({})).toThrow('2 nodes were asked for, and this run is one process');
    expect(several({ nodes: 1 })).toBe(1);
    expect(several({ per: 'slot' })).toBe(2);
    expect(several({ ranks: 2 })).toBe(2);
    expect(several({ words: ['train', '--model', 'mlp', '--data', 'synthetic'] })).toBe(2);
    const hpc: Profile = { name: 'hpc', kind: 'slurm', hosts: [{ host: 'login' }] };
    expect(several({ profile: hpc })).toBe(2);
  });

  it('are a field of the form for a cluster, which judges it there', () => {
    const problems = (hosts: string, nodes = '', profile = lab): string[] =>
      checkForm({ ...emptyForm('lab'), hosts, nodes }, profile, { flags: undefined, cwd: '/' }).problems.map(
        ({ field, error }) => `${field}: ${error.what}`,
      );
    expect(problems('gpu1, gpu3')).toEqual([]);
    expect(problems('gpu1,')).toEqual(['hosts: the list of hosts has a comma too many: "gpu1,"']);
    expect(problems('gpu9')).toEqual(['hosts: gpu9 is no host of profile lab']);
    expect(problems('gpu1', '2')).toEqual(['hosts: hosts were named, and a number of nodes was given too']);
    expect(problems('gpu9', '', { name: 'lab', kind: 'local' })).toEqual([]);
  });
});

describe('the hosts of an earlier run', () => {
  const entry = { id: 'x', dir: nodePath('/runs/x') };

  it('are those of the next start', () => {
    expect(resumedHosts(lab, ['gpu3', 'gpu1'], entry)).toEqual(['gpu3', 'gpu1']);
    expect(resumedHosts(lab, undefined, entry)).toBeUndefined();
  });

  it.each(['local', 'slurm'] as const)('are left out where the profile is one of kind %s', (kind) => {
    expect(resumedHosts({ ...lab, kind }, ['gpu1'], entry)).toBeUndefined();
    expect(keptHosts({ ...lab, kind }, ['gpu1'])).toBeUndefined();
  });

  it('are refused where the profile has lost one, with how to go on', () => {
    const what = 'gpu9 is no longer a host of profile lab; ranks may be on gpu1, gpu2, gpu3';
    const hint = { kind: 'otherHosts', hosts: ['gpu1'], resume: { profile: 'lab', ...entry } };
    const expected = { code: 'usage', what, hint };
    expect(() => resumedHosts(lab, ['gpu1', 'gpu9'], entry)).toThrow(expect.objectContaining(expected));
  });
});

describe('a new run like one whose hosts the profile has lost', () => {
  const path = 'checkpoints/step-00000060';
  const record = {
    ...{ program: 'trainer', limits: {}, argv: train, ranks: 4, tensorboard: false, evaluator: null },
    ...{ paths: { trainer: '/n/trainer' }, hostsAsked: ['gpu1', 'gpu9'] },
  };
  const entry = { id: 'x', dir: nodePath('/runs/x'), run: record as unknown as RunFile };
  /** As `trainyard run-from` reads it. */
  const from = (profile: Profile, ...words: string[]): TypedRun =>
    typedFrom(entry, { path }, { profile, cwd: '/' }, parseVerb(runFrom, ['x', ...words]));
  const refusal = (profile: Profile): string => {
    try {
      from(profile);
    } catch (error) {
      return errorWords(error);
    }
    return 'none';
  };
  const only = (...hosts: NonNullable<Profile['hosts']>): Profile => ({ ...lab, hosts });

  it('says which are lost, which are there and what to do', () => {
    expect(refusal(lab)).toBe(
      'gpu9 is no longer a host of profile lab; ranks may be on gpu1, gpu2, gpu3. Name hosts that are there, for example: --hosts gpu1.',
    );
    expect(refusal(only({ host: 'a', slots: 0 }, { host: 'b' }, { host: 'c' }, { host: 'd' }))).toBe(
      'gpu1, gpu9 are no longer hosts of profile lab; ranks may be on b, c, d. Name hosts that are there, for example: --hosts b,c.',
    );
    expect(refusal(only({ host: 'gpu1', slots: 0 }, { host: 'gpu2' }))).toBe(
      'gpu9 is no longer a host of profile lab, and gpu1 takes no rank in profile lab any more; ranks may be on gpu2. Name hosts that are there, for example: --hosts gpu2.',
    );
    expect(refusal(only({ host: 'gpu9' }, { host: 'gpu1' }))).toBe('none');
    expect(refusal({ ...lab, kind: 'slurm' })).toBe('none');
  });

  it('takes all slots of those that are named instead', () => {
    const typed = from(lab, '--hosts', 'gpu1,gpu2');
    expect(slotsOf(placeRanks(requestOf(typed), 'cpu', offers()))).toEqual({ gpu1: 2, gpu2: 2 });
    expect(slotsOf(placeRanks(requestOf(from(lab, '--hosts=gpu3')), 'cpu', offers()))).toEqual({
      gpu1: 0,
      gpu3: 2,
    });
    expect(from(only({ host: 'gpu9' }, { host: 'gpu1' }))).toMatchObject({
      ranks: 4,
      hosts: ['gpu1', 'gpu9'],
    });
  });

  it('is filled in the form with those that are left', () => {
    const like = { profile: 'lab', words: train, ranks: 4, hosts: ['gpu1', 'gpu9'] };
    const filled = (more: Partial<AskedRun> = {}, profile = lab): object | undefined => {
      const found = withoutLostHosts(formOf({ ...like, ...more }), profile);
      return found && { hosts: found.values.hosts, ranks: found.values.ranks, said: found.said };
    };
    const what = 'gpu9 is no longer a host of profile lab; ranks may be on gpu1, gpu2, gpu3.';
    const said = `${what} Choose other hosts, or start on gpu1.`;
    expect(filled()).toEqual({ hosts: 'gpu1', ranks: '', said });
    expect(filled({ words: ['mpirun', 'a'] })).toEqual({ hosts: 'gpu1', ranks: '4', said });
    const none = { hosts: 'gpu9', ranks: '4', said: `${what} Choose other hosts.` };
    expect(filled({ hosts: ['gpu9'] })).toEqual(none);
    expect(filled({ hosts: ['gpu1', 'gpu3'] })).toBeUndefined();
    expect(filled({ hosts: [] })).toBeUndefined();
  });
});

describe('a run on named hosts', () => {
  const slots = (hosts: readonly string[], more: Partial<TypedRun> = {}): Record<string, number> =>
    slotsOf(placeRanks(on(hosts, more), 'cpu', offers()));

  it('takes all their slots, in the order of the profile', () => {
    expect(slots(['gpu3', 'gpu1'])).toEqual({ gpu1: 2, gpu3: 2 });
    expect(slots(['gpu1'])).toEqual({ gpu1: 2 });
    expect(slots(['gpu1', 'gpu3'], { profile: { ...lab, maxNodes: 1 } })).toEqual({ gpu1: 2, gpu3: 2 });
    const program = { words: ['python', 'a.py'] };
    expect(slots(['gpu1'], program)).toEqual({ gpu1: 1 });
    expect(slots(['gpu1', 'gpu3'], { ...program, per: 'slot' })).toEqual({ gpu1: 2, gpu3: 2 });
    expect(slots(['gpu1', 'gpu3'], { ...program, per: 'node' })).toEqual({ gpu1: 1, gpu3: 1 });
  });

  it('fills them with so many ranks', () => {
    expect(slots(['gpu1', 'gpu3'], { ranks: 3 })).toEqual({ gpu1: 2, gpu3: 1 });
    expect(slots(['gpu1', 'gpu3'], { ranks: 2 })).toEqual({ gpu1: 2 });
    expect(() => slots(['gpu1', 'gpu3'], { ranks: 5 })).toThrow(
      '5 ranks were asked for, and there are slots for 4 (gpu1 has 2; gpu3 has 2)',
    );
  });

  it('is held by the head, which has no ranks where it is none of them', () => {
    expect(slots(['gpu3', 'gpu2'])).toEqual({ gpu1: 0, gpu2: 2, gpu3: 2 });
    const { nodes } = placeRanks(on(['gpu3']), 'cpu', offers());
    expect(nodes.map(({ host }) => host)).toEqual(['gpu1', 'gpu3']);
  });

  it('needs no more nodes than it has, whatever minNodes says', async () => {
    const runtime = {
      ...{ runtimeDir: nodePath('/r'), nodeDir: nodePath('/n'), agent: nodePath('/n/agent') },
      ...{ trainer: nodePath('/n/trainer'), mpiexec: nodePath('/r/mpiexec'), python: nodePath('/r/python') },
      ...{ tensorboardServer: nodePath('/n/s.py'), hashes: { agent: 'a', trainer: 't', requirements: 'r' } },
    };
    const minNodes = async (least: number, ...hosts: string[]): Promise<number | undefined> => {
      const request = on(hosts, { profile: { ...lab, minNodes: least } });
      const place = await placed(request, offers());
      const spec = planRun(request, { ...place, runtime, home: nodePath('/root') });
      const record = { ...spec, id: 'x', created: 1, dir: nodePath('/runs/x') };
      expect(record.hostsAsked).toEqual(hosts);
      const again = typedOf(runFileSchema.parse(JSON.parse(JSON.stringify(record))));
      expect(again).toMatchObject({ hosts, ranks: 2 * hosts.length });
      expect(again).not.toHaveProperty('nodes');
      const from = runFromCheckpoint({ id: 'x', run: record, dir: record.dir }, { path: 'c' }, lab);
      expect(from).toMatchObject({ hosts, ranks: 2 * hosts.length });
      return record.minNodes;
    };
    expect(await minNodes(3, 'gpu1', 'gpu3')).toBe(2);
    expect(await minNodes(3, 'gpu3')).toBe(1);
    expect(await minNodes(1, 'gpu1', 'gpu3')).toBe(1);
  });

  it('takes GPUs of each of them, and is refused where one has none free', async () => {
    const cuda = { words: [...train, '--device', 'cuda'] };
    const free = offers({ gpu1: [gpu(0)], gpu2: [gpu(0)], gpu3: [gpu(0), gpu(1)] });
    expect(slotsOf((await placed(on(['gpu1', 'gpu3'], cuda), free)).placement)).toEqual({ gpu1: 1, gpu3: 2 });
    expect(slotsOf((await placed(on(['gpu3'], cuda), free)).placement)).toEqual({ gpu1: 0, gpu3: 2 });
    const taken = offers({ gpu1: [gpu(0)], gpu2: [gpu(0)], gpu3: [gpu(0, 'process 7')] });
    await expect(placed(on(['gpu1', 'gpu3'], cuda), taken)).rejects.toThrow(
      'gpu3 was named, and it has no free GPU (gpu3 has 0, GPU 0 is taken by process 7)',
    );
    expect(slotsOf((await placed(on(undefined, cuda), taken)).placement)).toEqual({ gpu1: 1, gpu2: 1 });
    const bare = offers({ gpu2: [gpu(0)] });
    await expect(placed(on(['gpu1', 'gpu2'], cuda), bare)).rejects.toThrow('gpu1 was named, and it has no');
    expect(slotsOf((await placed(on(undefined, cuda), bare)).placement)).toEqual({ gpu1: 0, gpu2: 1 });
    const one = { ...cuda, ranks: 1 };
    expect(slotsOf((await placed(on(['gpu1', 'gpu3'], one), taken)).placement)).toEqual({ gpu1: 1 });
  });

  it('says which hosts to name where those that are named have no free GPU', () => {
    const refusal = (request: RunRequest, some: readonly NodeOffer[]): unknown => {
      try {
        return placeRanks(request, 'cuda', some);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { what: error.what, hint: error.hint };
      }
    };
    const taken = offers({ gpu1: [gpu(0, 'process 7')], gpu2: [gpu(0)], gpu3: [gpu(0)] });
    expect(refusal(on(['gpu1']), taken)).toEqual({
      what: 'none of the hosts that were named has a free GPU (gpu1 has 0, GPU 0 is taken by process 7); other hosts can be named',
      hint: { kind: 'useCpu', or: 'otherGpus', profile: 'lab' },
    });
    expect(refusal(on(undefined), offers())).toMatchObject({
      what: expect.stringMatching(/^no node of profile lab has a free GPU .*\)$/) as unknown,
    });
    const head = 'the head, gpu1, was named, and it has no free GPU for the first rank';
    expect(refusal(on(['gpu1', 'gpu3'], { ranks: 1 }), taken)).toEqual({
      what: `${head} (gpu1 has 0, GPU 0 is taken by process 7); it can be left out of the named hosts`,
      hint: { kind: 'otherGpus', profile: 'lab' },
    });
    expect(refusal(on(['gpu1', 'gpu3'], { ranks: 1 }), offers({ gpu3: [gpu(0)] }))).toEqual({
      what: `${head} (gpu1 has 0)`,
      hint: 'Leave it out of the named hosts',
    });
    expect(refusal(on(undefined, { ranks: 1 }), taken)).toMatchObject({ hint: { kind: 'freeHead' } });
  });

  it('leaves a host that is not named out of what auto looks at', async () => {
    const some = offers({ gpu1: [gpu(0)], gpu3: [gpu(0)] });
    expect(noGpusFor(on(undefined), some)).toBe('no GPU on gpu2');
    expect(noGpusFor(on(['gpu1', 'gpu3']), some)).toBeUndefined();
    expect(noGpusFor(on(['gpu2']), some)).toBe('no GPU on gpu2');
    expect(await placed(on(['gpu3', 'gpu1']), some)).toMatchObject({ device: 'cuda' });
    // Of a cluster of which only head and named hosts were asked.
    const asked = some.filter(({ host }) => host.host !== 'gpu2');
    expect(await placed(on(['gpu3']), asked)).toMatchObject({ device: 'cuda', placement: { ranks: 1 } });
  });
});

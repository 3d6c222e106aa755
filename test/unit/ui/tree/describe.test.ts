import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { LastSeen } from '../../../../src/core/follow/lastSeen.js';
import type { RunOverview } from '../../../../src/core/follow/overview.js';
import type { RunStatus } from '../../../../src/core/model/runStatus.js';
import type { SessionState } from '../../../../src/core/follow/clusterSession.js';
import { runName, shortName } from '../../../../src/core/model/runName.js';
import { localProfile, type Profile } from '../../../../src/core/contracts/profileSchema.js';
import {
  describeCheckpoint,
  describeGpu,
  describeHost,
  describeProfile,
  describeRun,
  describeWaiting,
  withoutRanks,
} from '../../../../src/ui/tree/describe.js';
import { describeLastGroup, describeLastRun } from '../../../../src/ui/tree/describeLast.js';
import { listedRun } from '../../support/listedRun.js';

const overview = (status: RunStatus, fields: Partial<RunOverview> = {}): RunOverview => {
  const run = listedRun('20261121-104500-resnet20-1f2e', status, {
    ...{ step: 102, totalSteps: 300, epoch: 4, totalEpochs: 12, fraction: 0.34 },
    ...{ imagesPerSec: 1204.4, top1: 0.952 },
  });
  return { ...run, entry: { ...run.entry, interrupted: false }, ...fields };
};

describe('a run in the tree', () => {
  it('says in its tooltip what it costs', () => {
    const cost = { currency: 'USD', perHour: 24.48, soFar: 3.4, atEnd: 6.8, perEpoch: undefined };
    expect(describeRun(overview('running', { cost })).tooltip).toContain(
      'cost 3.40 USD so far, about 6.80 USD in all',
    );
    expect(describeRun(overview('finished', { cost })).tooltip).toMatch(/^cost 3\.40 USD$/m);
    expect(describeRun(overview('running')).tooltip).not.toContain('cost');
  });

  it('says in its row which rank is slow, and in its tooltip why', () => {
    const text = 'slow: rank 1 on gpu2, computes 96% longer than the median of the others';
    const health = { level: 'warning', kind: 'slow-rank', text } as const;
    const item = describeRun(overview('running', { health }));
    expect(item.description).toBe('slow: rank 1 on gpu2 · 34% · 1,204 img/s');
    expect(item.icon).toBe('warning');
    expect(item.tooltip.split('\n')).toContain(text);
  });

  it('says phase, progress and images/s while it runs', () => {
    expect(describeRun(overview('running'))).toMatchObject({
      label: 'resnet20-1f2e',
      description: 'running · 34% · 1,204 img/s',
      contextValue: 'run.active',
    });
    const best = { step: 100, top1: 0.741 };
    expect(describeRun(overview('running', { secondsLeft: 11_400, best })).description).toBe(
      'running · 34% · 3 h 10 min left · 74.1% · 1,204 img/s',
    );
    const { entry } = overview('running');
    const there = { entry: { ...entry, elsewhere: 'gpu1' } };
    expect(describeRun(overview('running', there)).description).toMatch(/^running on gpu1 · /);
    expect(describeRun(overview('running')).tooltip).toContain('epoch 5 of 12');
    const endless = { totalSteps: undefined, totalEpochs: undefined, fraction: undefined };
    expect(describeRun(overview('running', endless)).description).toBe('running · step 102 · 1,204 img/s');
    expect(
      describeRun(overview('starting', { step: undefined, epoch: undefined, imagesPerSec: undefined }))
        .description,
    ).toBe('starting');
  });

  it('says how it ended', () => {
    expect(describeRun(overview('finished'))).toMatchObject({
      description: 'finished · 95.2% training',
      contextValue: 'run.over',
    });
    const ended = { started: 100, ended: 250, reason: null } as unknown as RunOverview['entry']['state'];
    const over = overview('finished', { best: { step: 50, top1: 0.99 } });
    const entry = { ...over.entry, state: ended };
    expect(describeRun({ ...over, entry }, 550).description).toBe('finished · 99.0% · 3 min · 5 min ago');
    const resumed = { ...entry, run: { ranks: 2, argv: [], earlier: [{ from: 10, to: 100 }] } as never };
    const { description } = describeRun({ ...over, entry: resumed }, 550);
    expect(description).toBe('finished · 99.0% · 4 min · 5 min ago'); // 150 s, and 90 s before
    expect(describeRun(overview('interrupted')).contextValue).toBe('run.over.early');
    const failed = overview('failed');
    const state = { reason: 'trainer: error: out of memory' } as unknown as RunOverview['entry']['state'];
    expect(describeRun({ ...failed, entry: { ...failed.entry, state } }).description).toBe(
      'failed: out of memory',
    );
  });

  it('has a word and an icon for every phase', () => {
    const phases: RunStatus[] = [
      'starting',
      'running',
      'stopping',
      'evaluating',
      'finished',
      'stopped',
      'failed',
      'interrupted',
      'unknown',
    ];
    for (const phase of phases) {
      const { description, icon } = describeRun(overview(phase));
      expect(description).toContain(phase);
      expect(icon).not.toBe('');
    }
  });

  it('shows a foreign name as it is', () => {
    expect(shortName('my-run')).toBe('my-run');
    expect(shortName('20261121-104500-resnet20-1f2e')).toBe('resnet20-1f2e');
  });

  it('has the name that somebody gave it, its tags, and its id and notes in the tooltip', () => {
    const { entry } = overview('running');
    const about = { name: 'larger batch', tags: ['baseline', 'lr 0.1'], notes: 'see the paper' };
    const item = describeRun(overview('running', { entry: { ...entry, about } }));
    expect(item.label).toBe('larger batch');
    expect(item.description).toBe('running · 34% · 1,204 img/s · #baseline #lr 0.1');
    expect(item.tooltip).toMatch(
      /^larger batch\n20261121-104500-resnet20-1f2e\n#baseline #lr 0\.1\nsee the paper\n/,
    );
    expect(runName({ ...entry, about: { ...about, name: '' } })).toBe('resnet20-1f2e');
    expect(runName({ ...entry, about: null })).toBe('resnet20-1f2e');
  });
});

it('a host and a GPU', () => {
  const gpu = {
    index: 0,
    uuid: 'u',
    name: 'NVIDIA H100 80GB HBM3',
    memory_used: 61.2e9,
    memory_total: 79.6e9,
    utilization: 97,
    temperature: null,
    power_watts: null,
    processes: [],
  };
  const sample = {
    time: 1,
    host: 'gpu1',
    cpu_percent: 34.6,
    memory_used: 3.1e9,
    memory_total: 23.5e9,
    disk_free: 8e11,
    gpus: [gpu],
  };
  expect(describeHost(sample, 1)).toMatchObject({ label: 'gpu1', description: '1 core at 35%, 3.1/23.5 GB' });
  const takes = { release: 12, why: 'driver 535.104.05 is older than 580' } as const;
  expect(describeHost(sample, 1, takes).tooltip).toBe(
    "gpu1: 800.0 GB of disk free, 1 GPU\nCUDA 12's build, since driver 535.104.05 is older than 580",
  );
  const without = { release: undefined, why: 'there is no NVIDIA driver' };
  expect(describeHost(sample, 1, without).tooltip).toContain(
    '\nno CUDA back end, since there is no NVIDIA driver',
  );
  expect(describeHost({ ...sample, gpus: [] }, 1, without).tooltip).toBe(
    'gpu1: 800.0 GB of disk free, 0 GPUs',
  );
  expect(describeHost({ ...sample, disk_free: 9.4e9 }, 1)).toMatchObject({
    description: '1 core at 35%, 3.1/23.5 GB · 9.4 GB of disk free',
    icon: 'warning',
  });
  const head = describeHost(sample, 1);
  expect(withoutRanks(head, { host: 'gpu1', slots: 1 })).toBe(head);
  expect(withoutRanks(head, { host: 'gpu1', slots: 0 })).toMatchObject({
    description: '1 core at 35%, 3.1/23.5 GB · no ranks',
    tooltip: `${head.tooltip}\nIt holds the runs of this profile. No rank runs here (slots: 0).`,
  });
  const nobody = (): undefined => undefined;
  expect(describeGpu(gpu, nobody)).toMatchObject({
    label: 'H100 80GB HBM3  GPU 0',
    description: '61.2/79.6 GB · 97%',
    tooltip: 'NVIDIA H100 80GB HBM3\nu',
  });
  const processes = [
    { pid: 7, memory_used: 1 },
    { pid: 4121, memory_used: null },
  ];
  const ours = ({ pid }: { pid: number }): string | undefined => (pid === 7 ? 'resnet50-0412' : undefined);
  expect(describeGpu({ ...gpu, processes }, ours).description).toBe(
    '61.2/79.6 GB · 97% · ours: resnet50-0412 · someone: pid 4121',
  );
  const others = [
    { pid: 4121, memory_used: null, user: 'bob', command: '/usr/bin/python3 train.py --lr 1' },
    { pid: 9, memory_used: null, user: null, command: 'Xorg' },
  ];
  expect(describeGpu({ ...gpu, processes: others }, ours).description).toBe(
    '61.2/79.6 GB · 97% · someone: bob, python3 (pid 4121); Xorg (pid 9)',
  );
});

it('a profile, by how it is connected', () => {
  const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
  const text = (state: SessionState): string => describeProfile(lab, state).description;
  expect(text({ kind: 'disconnected' })).toBe('ssh, 2 nodes · not connected');
  const ran = { id: 'r', dir: nodePath('/r'), name: 'r', status: 'running', health: 'healthy' } as const;
  const last: LastSeen = {
    version: 1,
    at: Date.now() / 1000 - 300,
    runs: [ran, { ...ran, status: 'failed' }],
  };
  expect(describeProfile(lab, { kind: 'disconnected' }, { last }).description).toBe(
    'not connected · 1 was running 5 min ago',
  );
  expect(text({ kind: 'connecting' })).toBe('ssh, 2 nodes · connecting…');
  expect(
    text({
      kind: 'failed',
      error: new UserError('connection', 'no route', { kind: 'connectAgain', host: 'a' }),
    }),
  ).toBe('no route. Connect again.');
  const connected: SessionState = { kind: 'connected', cores: 2, host: 'vm' };
  expect(describeProfile(lab, connected, { sums: 'queued 1, running 0' }).description).toBe(
    'queued 1, running 0',
  );
  expect(text(connected)).toBe('ssh, 2 nodes');
  expect(describeProfile(lab, connected).contextValue).toBe('profile.ssh.connected');
  expect(describeProfile(localProfile, connected).contextValue).toBe('profile.builtin.connected');
});

it('a checkpoint, with what it is', () => {
  const checkpoint = { step: 62_500, path: 'p', bytes: 204e6, time: 1000, valid: true };
  const none = { top1: undefined, best: false, latest: false, alone: false };
  expect(describeCheckpoint(checkpoint, none, 1240)).toMatchObject({
    label: 'step 62,500',
    description: '204 MB · 4 min ago',
  });
  expect(
    describeCheckpoint(checkpoint, { ...none, top1: 0.741, best: true, latest: true }, 1240).description,
  ).toBe('best 74.1% · latest · 204 MB · 4 min ago');
  const useless = describeCheckpoint(checkpoint, { ...none, top1: 0, best: true }, 1240);
  expect(useless).toMatchObject({ description: '0.0% · 204 MB · 4 min ago', icon: 'save' });
  const evaluated = describeCheckpoint(checkpoint, { ...none, top1: 0.736 }, 1240);
  expect(evaluated.description).toBe('73.6% · 204 MB · 4 min ago');
  const other = { step: 62500, top1: 0.967, data: '/d/r1images', images: 300 };
  const onOthers = describeCheckpoint(checkpoint, { ...none, other }, 1240);
  expect(onOthers.description).toBe('96.7% on r1images, 300 images · 204 MB · 4 min ago');
  const broken = { ...checkpoint, valid: false, reason: 'a file is missing' };
  expect(describeCheckpoint(broken, none, 1240)).toMatchObject({
    description: expect.stringContaining('not valid: a file is missing') as string,
    contextValue: 'checkpoint.damaged',
  });
  const part = { ...broken, time: 0, reason: 'no manifest.json' };
  expect(describeCheckpoint(part, none, 1240).description).toBe('204 MB · not valid: no manifest.json');
  expect(describeCheckpoint(checkpoint, none, 1240).contextValue).toBe('checkpoint.valid');
  expect(describeCheckpoint(checkpoint, { ...none, alone: true }, 1240).contextValue).toBe(
    'checkpoint.valid.last',
  );
});

it('a run that is remembered, with the time of what is said', () => {
  const run = { id: '1-a', dir: nodePath('/w/1-a'), name: 'birds', health: 'healthy, 1 restart' };
  const last: LastSeen = { version: 1, at: 10_000, runs: [] };
  const now = 10_000 + 3 * 3600;
  expect(describeLastRun({ ...run, status: 'running', fraction: 0.349 }, last, now)).toMatchObject({
    label: 'birds',
    description: 'was running 3 h ago · 34%',
    contextValue: 'lastRun',
  });
  const over = describeLastRun({ ...run, status: 'finished', top1: 0.952, ended: now - 120 }, last, now);
  expect(over.description).toBe('finished · 95.2% · 2 min ago');
  expect(over.tooltip).toMatch(/^1-a\nAs it was on .+: healthy, 1 restart\n\/w\/1-a$/);
  expect(describeLastGroup('lab', last, now).description).toBe('connect to see · seen 3 h ago');
});

describe('a start that waits for GPUs', () => {
  const start = {
    ticket: 'a'.repeat(32),
    number: 7,
    gpus: [0, 1, 2, 3],
    count: 2,
    by: 'ada@laptop',
    since: 1000,
  };

  it('says its place, how many it wants, whose it is and since when', () => {
    const shown = describeWaiting(start, 2, 1190);
    expect(shown).toMatchObject({ label: '2nd in the queue', description: '2 GPUs · ada@laptop · 3 min' });
    expect(shown.tooltip).toContain('A start of ada@laptop waits for 2 of the GPUs 0, 1, 2, 3');
  });

  it('names the GPUs where it wants all of them, and nobody where nobody is named', () => {
    const shown = describeWaiting({ ...start, gpus: [3], count: 1, by: '' }, 1, 990);
    expect(shown).toMatchObject({ label: '1st in the queue', description: '1 GPU · 0 s' });
    expect(shown.tooltip).toContain('A start waits for GPUs 3, since 0 s');
  });
});

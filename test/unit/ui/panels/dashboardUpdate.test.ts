// The extension's side and the page's side of the dashboard against one another: whatever happens,
// the page holds what the run's model holds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import { RunModel } from '../../../../src/core/model/runModel.js';
import { DashboardSender } from '../../../../src/ui/panels/dashboardUpdate.js';
import { PageModel } from '../../../../src/webview/dashboard/model/model.js';
import { evalLine, hostLine, startLine, stepLine } from '../../support/lines.js';
import { stateOf } from '../../support/fakeRun.js';

type Feed = Parameters<DashboardSender['next']>[0];
const feedOf = (model: RunModel): Feed => ({
  model,
  dir: '/w/runs/20261121-104500-demo-1f2e',
  connection: { state: 'connected', since: 1 },
});

const sample = (host: string, time: number, gpus: number): HostSample => ({
  time,
  host,
  cpu_percent: 5,
  memory_used: time,
  memory_total: 100,
  disk_free: 9,
  gpus: Array.from({ length: gpus }, (_, index) => ({
    index,
    uuid: `${host}-${index}`,
    name: 'GPU',
    memory_used: time + index,
    memory_total: 80,
    utilization: index % 2 === 0 ? 50 : null,
    temperature: null,
    power_watts: 100,
    processes: [{ pid: 11, memory_used: 1 }],
  })),
});

type Act =
  | { kind: 'step' }
  | { kind: 'restart'; back: number }
  | { kind: 'eval' }
  | { kind: 'event' }
  | { kind: 'host'; host: string }
  | { kind: 'rank' }
  | { kind: 'log' }
  | { kind: 'replaced' }
  | { kind: 'send' }
  | { kind: 'hide' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Act>({ kind: 'step' }) },
  { weight: 1, arbitrary: fc.nat(30).map((back): Act => ({ kind: 'restart', back })) },
  { weight: 2, arbitrary: fc.constant<Act>({ kind: 'eval' }) },
  { weight: 2, arbitrary: fc.constant<Act>({ kind: 'event' }) },
  { weight: 3, arbitrary: fc.constantFrom('a', 'b').map((host): Act => ({ kind: 'host', host })) },
  { weight: 2, arbitrary: fc.constant<Act>({ kind: 'rank' }) },
  { weight: 2, arbitrary: fc.constant<Act>({ kind: 'log' }) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'replaced' }) },
  { weight: 6, arbitrary: fc.constant<Act>({ kind: 'send' }) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'hide' }) },
);

/** A run to which things happen. */
class Happening {
  readonly model = new RunModel();
  private step = 0;
  private generation = 1;
  private time = 100;

  do(act: Act): void {
    const time = ++this.time;
    const { generation } = this;
    switch (act.kind) {
      case 'step':
        this.model.addMetric(stepLine(++this.step, { generation, time }));
        break;
      case 'restart':
        this.step = Math.max(0, this.step - act.back);
        this.generation++;
        this.model.addMetric(startLine({ generation: this.generation, time }));
        this.model.addMetric(stepLine(++this.step, { generation: this.generation, time }));
        break;
      case 'eval':
        this.model.addMetric(evalLine(this.step, (time % 10) / 10, { generation, time }));
        break;
      case 'event':
        this.model.addEvent({ kind: 'checkpoint', time, generation, step: this.step, path: 'p', bytes: 1 });
        break;
      case 'host':
        this.model.addSample(act.host, sample(act.host, time, 3));
        break;
      case 'rank':
        this.model.addMetric({
          kind: 'host',
          time,
          generation,
          step: this.step,
          rank: time % 2,
          host: 'a',
          device: 'cpu',
          memory_used: time,
          memory_peak: time,
          compute_ms: time % 2 === 0 ? 50 : 90,
          comm_ms: 1,
          input_wait_ms: 0,
        });
        break;
      case 'log':
        this.model.log.add('rank 0', `line ${time}`);
        break;
      case 'replaced':
        this.model.resetMetrics();
        this.step = 0;
        break;
      case 'send':
      case 'hide':
        break;
    }
  }
}

const held = (page: PageModel): object => {
  const { steps, evaluations, marks, hosts, ranks, log, head, progress, checkpoints } = page;
  const byRank = [...ranks].sort((a, b) => a.rank - b.rank);
  return { steps, evaluations, marks, hosts, ranks: byRank, log, head, progress, checkpoints };
};

describe('the dashboard', () => {
  it('holds on the page what the model holds, however it was sent', () => {
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 150 }), (list) => {
        const run = new Happening();
        const feed = feedOf(run.model);
        const page = new PageModel();
        let sender = new DashboardSender('local');
        for (const act of list) {
          run.do(act);
          if (act.kind === 'send') expect(page.apply(sender.next(feed, 1))).toBe('applied');
          if (act.kind === 'hide') sender = new DashboardSender('local'); // a page that comes back says ready
        }
        page.apply(sender.next(feed, 1));
        const fresh = new PageModel();
        fresh.apply(new DashboardSender('local').next(feed, 1));
        expect(held(page)).toEqual(held(fresh));
      }),
      { numRuns: 200 },
    );
  });

  it('says which rank is slow and where its time goes, and forgets ranks that a restart left out', () => {
    const model = new RunModel();
    const page = new PageModel();
    const sender = new DashboardSender('local');
    const show = (): string[] => {
      expect(page.apply(sender.next(feedOf(model), 1))).toBe('applied');
      return page.ranks.map(({ rank, times, slow }) => `${rank} ${times?.compute ?? 0} ${slow}`.trim());
    };
    const interval = (at: number, slowMs: number): void => {
      for (const rank of [0, 1]) {
        const figures = { compute_ms: rank === 1 ? slowMs : 50, comm_ms: 1, input_wait_ms: 0 };
        model.addMetric(hostLine(at, rank, { time: 100 + 2 * at, ...figures }));
      }
    };
    model.addMetric(startLine({ world: 2 }));
    for (let at = 1; at <= 4; at++) interval(at, 98);
    expect(show()).toEqual(['0 50', '1 98']);
    for (let at = 5; at <= 8; at++) interval(at, 98);
    const slow = '1 98 slow: computes 96% longer than the median of the others';
    expect(show()).toEqual(['0 50', slow]);
    for (let at = 9; at <= 12; at++) interval(at, 51);
    expect(show()).toEqual(['0 50', '1 51']);
    model.addMetric(startLine({ world: 1, generation: 2, resumed_from: 'step-00000005' }));
    expect(show()).toEqual(['0 50']);
  });

  it('asks for everything again when an update was missed', () => {
    const run = new Happening();
    const feed = feedOf(run.model);
    const sender = new DashboardSender('local');
    const page = new PageModel();
    page.apply(sender.next(feed, 1));
    run.do({ kind: 'step' });
    sender.next(feed, 1);
    run.do({ kind: 'step' });
    expect(page.apply(sender.next(feed, 1))).toBe('gap');
  });

  it('says how the run stands', () => {
    const model = new RunModel();
    model.details = {
      id: '20261121-104500-demo-1f2e',
      dir: nodePath('/w/runs/r'),
      run: null,
      interrupted: false,
      files: {},
      stamps: {},
      state: stateOf('running') as never,
    };
    model.addMetric(startLine());
    for (let step = 10; step <= 100; step += 10) model.addMetric(stepLine(step, { time: 1000 + step / 10 }));
    const before = new DashboardSender('local').next(feedOf(model), 1).progress;
    expect(before).toMatchObject({ bestTop1: null, trainingTop1: stepLine(100).top1 });
    model.addMetric(evalLine(50, 0.5));
    const { head, progress } = new DashboardSender('local').next(feedOf(model), 1);
    expect(head).toMatchObject({ name: 'demo-1f2e', status: 'running', over: false, model: 'resnet20' });
    expect(progress).toMatchObject({
      step: 100,
      totalSteps: 300,
      totalEpochs: 12,
      bestTop1: 0.5,
      bestStep: 50,
      trainingTop1: null,
    });
    expect(progress.fraction).toBeCloseTo(1 / 3, 9);
    // 200 steps at ten a second, and the last evaluation.
    expect(progress.secondsLeft).toBeCloseTo(21.5, 6);
    const waiting_for = [{ rank: 1, host: 'gpu2' }];
    model.addEvent({ kind: 'stalled', time: 1011, generation: 1, seconds: 20, waiting_for, last_step: 100 });
    expect(new DashboardSender('local').next(feedOf(model), 1).progress.secondsLeft).toBeNull();
    model.details = { ...model.details, state: stateOf('finished') as never };
    expect(new DashboardSender('local').next(feedOf(model), 1).progress.secondsLeft).toBeNull();
  });

  it('counts time from the first start, and the time that all starts took', () => {
    const model = new RunModel();
    const run = { profile: { kind: 'local' }, ranks: 2, argv: [], limits: {} };
    const details = { id: 'r', dir: nodePath('/w/r'), interrupted: false, files: {}, stamps: {} };
    const resumed = {
      ...run,
      earlier: [
        { from: 10, to: 40 },
        { from: 60, to: 70 },
      ],
    } as never;
    const head = () => new DashboardSender('local').next(feedOf(model), 1).head;
    // The last start was at 100. 30 s and 10 s went before it, and 30 s more since.
    model.details = { ...details, run: resumed, state: stateOf('running', 130) as never };
    const pauses = [
      { from: 40, to: 60 },
      { from: 70, to: 100 },
    ];
    expect(head()).toMatchObject({ started: 10, pauses, took: { seconds: 70, until: 130 } });
    model.details = { ...details, run: resumed, state: stateOf('finished') as never }; // at 160
    expect(head()).toMatchObject({ started: 10, ended: 160, took: { seconds: 100, until: null } });
    // Without the record of its starts the lines tell when it began.
    model.details = { ...details, run: run as never, state: stateOf('running', 130) as never };
    model.addMetric(startLine({ time: 20 }));
    expect(head()).toMatchObject({ started: 20, pauses: [], took: { seconds: 30 } });
  });

  it('marks a resume as one, and counts it as no restart', () => {
    const model = new RunModel();
    const earlier = [{ from: 10, to: 40, generation: 1 }];
    const run = { profile: { kind: 'local' }, ranks: 2, argv: [], limits: { maxRestarts: 0 }, earlier };
    const state = { ...stateOf('running', 130), generation: 2 } as never;
    const details = { id: 'r', dir: nodePath('/w/r'), interrupted: false, files: {}, stamps: {} };
    model.details = { ...details, run: run as never, state };
    model.addEvent({ kind: 'started', time: 11, generation: 1, world: 2, argv: [] });
    model.addEvent({ kind: 'started', time: 101, generation: 2, world: 2, argv: [] });
    model.addMetric(startLine({ time: 102, generation: 2, resumed_from: 'step-00000040' }));
    const { head, marks } = new DashboardSender('local').next(feedOf(model), 1);
    expect(head).toMatchObject({ restarts: 0, restartsInAll: 0, resumedFrom: 40 });
    expect(head.health).toMatchObject({ level: 'note', text: 'resumed from step 40' });
    expect(marks.rows.map(({ kind, text }) => [kind, text])).toEqual([
      ['start', 'started with 2 ranks'],
      ['resume', 'resumed with 2 ranks'],
    ]);
  });

  it('says why a training ended before its last step', () => {
    const model = new RunModel();
    const run = { profile: { kind: 'local' }, ranks: 2, argv: ['train', '--early-stop=10'], limits: {} };
    const details = { id: 'r', dir: nodePath('/w/r'), interrupted: false, files: {}, stamps: {} };
    model.details = { ...details, run: run as never, state: stateOf('finished') as never };
    const reason = () => new DashboardSender('local').next(feedOf(model), 1).head.reason;
    model.addMetric(startLine());
    expect(reason()).toBeNull();
    const end = { kind: 'end', time: 1, generation: 1, step: 451, seconds: 9, images_per_sec: 9 } as const;
    model.addMetric({ ...end, reason: 'finished', early_stop: true });
    expect(reason()).toBe('early stop: no better evaluation for 10');
  });

  it('says what the run costs, where it has a price', () => {
    const model = new RunModel();
    const price = { per: 'node', amount: 3600, currency: 'USD' }; // of one node 1 USD a second
    const details = {
      id: '20261121-104500-demo-1f2e',
      dir: nodePath('/w/runs/r'),
      interrupted: false,
      files: {},
      stamps: {},
      state: stateOf('running', 130) as never, // it started at 100
    };
    const run = { profile: { kind: 'local' }, ranks: 2, argv: [], limits: {} };
    model.details = { ...details, run: { ...run, price } as never };
    model.addMetric(startLine());
    for (let step = 10; step <= 100; step += 10) model.addMetric(stepLine(step, { time: 1000 + step / 10 }));
    const cost = (): unknown => new DashboardSender('local').next(feedOf(model), 1).progress.cost;
    // Of 30 s, 100 steps of 0.1 s took 10 s: 20 s at 1 USD had no step.
    const idle = 'without a step 20.00 USD';
    // 200 steps are left at ten a second, and an epoch has 25 steps.
    expect(cost()).toEqual({ soFar: '30.00 USD', atEnd: '50.00 USD', perEpoch: '2.50 USD', spent: idle });
    model.details = { ...model.details, state: stateOf('finished') as never }; // it ended at 160
    expect(cost()).toEqual({
      soFar: '60.00 USD',
      atEnd: null,
      perEpoch: null,
      spent: 'without a step 50.00 USD',
    });
    model.details = { ...details, run: run as never };
    expect(cost()).toBeNull();
  });

  it.each([
    [['gpu1'], [], 'gpu1, 2 ranks'],
    [['gpu1'], ['login-7', 'login-7'], 'gpu1, 2 ranks'],
    [['gpu1', 'gpu2'], [], '2 nodes, 2 ranks'],
    [['gpu1', 'gpu2'], ['gpu2', 'gpu2'], 'gpu2, 2 ranks'],
    [undefined, ['login-7', 'login-7'], 'this machine, 2 ranks'],
  ])('says where a run is: planned %j, ranks on %j', (planned, ranks, where) => {
    const model = new RunModel();
    const run = {
      profile: { name: 'p', kind: planned === undefined ? 'local' : 'ssh' },
      ranks: 2,
      program: 'trainer',
      argv: ['train'],
      limits: { maxRestarts: 3 },
      nodes: planned?.map((host) => ({ host, address: host, slots: 2, gpus: null })),
    };
    const state = {
      ...stateOf('running'),
      ranks: ranks.map((host, rank) => ({ rank, host, pid: 11 + rank, startTime: 1 })),
    };
    const details = {
      id: 'r',
      dir: nodePath('/w'),
      run: run as never,
      interrupted: false,
      files: {},
      stamps: {},
    };
    model.details = { ...details, state: state as never };
    expect(new DashboardSender('p').next(feedOf(model), 1).head.where).toBe(where);
  });

  it('says the device before the trainer does, and why where nobody asked for one', () => {
    const model = new RunModel();
    const run = {
      profile: { name: 'p', kind: 'local' },
      ranks: 2,
      program: 'trainer',
      argv: ['train'],
      limits: { maxRestarts: 3 },
    };
    const headWith = (device: object | undefined): object => {
      const details = {
        id: 'r',
        dir: nodePath('/w'),
        interrupted: false,
        files: {},
        stamps: {},
        state: null,
      };
      model.details = { ...details, run: { ...run, device } as never };
      const { device: shown, deviceWhy } = new DashboardSender('p').next(feedOf(model), 1).head;
      return { shown, deviceWhy };
    };
    const why = 'no GPU on gpu1';
    expect(headWith({ asked: 'auto', used: 'cpu', why })).toEqual({ shown: 'cpu', deviceWhy: why });
    expect(headWith({ asked: 'cuda', used: 'cuda', why })).toEqual({ shown: 'cuda', deviceWhy: null });
    expect(headWith(undefined)).toEqual({ shown: null, deviceWhy: null });
  });

  it('marks which processes on a GPU are of this run: its ranks, and what they started', () => {
    const model = new RunModel();
    const state = { ...stateOf('running'), ranks: [{ rank: 0, host: 'a', pid: 11, startTime: 1 }] };
    const details = { id: 'r', dir: nodePath('/w'), run: null, interrupted: false, files: {}, stamps: {} };
    model.details = { ...details, state: state as never };
    const line = sample('a', 1, 1);
    const processes = [
      { pid: 11, memory_used: 1 },
      { pid: 12, memory_used: 1, run: 'w' },
      { pid: 13, memory_used: 1, run: 'other' },
      { pid: 14, memory_used: 1, run: null },
    ];
    model.addSample('a', { ...line, gpus: line.gpus.map((gpu) => ({ ...gpu, processes })) });
    const ours = (): (boolean | undefined)[] => {
      const [gpu] = new DashboardSender('local').next(feedOf(model), 1).hosts[0]?.rows.gpus ?? [];
      return gpu?.processes.map((process) => process.ours) ?? [];
    };
    expect(ours()).toEqual([true, true, false, false]);
    // What the last sample of a run that is over has is nobody's beside it.
    model.details = { ...details, state: { ...state, phase: 'finished' } as never };
    expect(ours()).toEqual([true, true, true, true]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import type { RunEvent } from '../../../../src/core/contracts/runSchema.js';
import { healthOf, type Health, type HealthFacts } from '../../../../src/core/model/runHealth.js';
import { RunJournal } from '../../../../src/core/model/runJournal.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import { lostToLast } from '../../../../src/core/model/spending.js';
import { startsBy } from '../../../../src/core/model/starts.js';
import { evalLine, hostLine, startLine, stepLine } from '../../support/lines.js';

const begun = 1_795_258_500;
const at = (time: number, generation = 1): { time: number; generation: number } => ({
  time: begun + time,
  generation,
});
const killed = (time: number, rank: number, generation = 1): RunEvent => ({
  ...at(time, generation),
  kind: 'rank_exited',
  rank,
  host: 'gpu2',
  pid: 7,
  exit_code: null,
  signal: 9,
  last_step: 80,
});
const started = (time: number, generation: number): RunEvent => ({
  ...at(time, generation),
  kind: 'started',
  world: 2,
  argv: [],
});
const steps = (first: number, last: number, fields: Partial<Parameters<typeof stepLine>[1]> = {}): Metric[] =>
  Array.from({ length: last - first + 1 }, (_, row) =>
    stepLine(first + row, { time: begun + first + row, ...fields }),
  );

const checkpoint = (step: number, time: number, generation = 1): Metric => {
  const more = { path: `checkpoints/step-${step}`, bytes: 1, write_ms: 1 };
  return { kind: 'checkpoint', ...at(time, generation), step, ...more };
};

function health(
  metrics: Metric[],
  events: RunEvent[],
  facts: Partial<HealthFacts> = {},
  resumedAt: number[] = [],
): Health {
  const journal = new RunJournal();
  for (const event of events) journal.add(event);
  const read = new RunMetrics();
  for (const metric of metrics) read.add(metric);
  const { generation } = journal;
  const earlier = resumedAt.map((from) => ({ from: begun - 100, to: from, generation: generation - 1 }));
  const started = resumedAt[0] ?? begun;
  const state = { started, ended: null, updated: begun + 1000, generation };
  return healthOf({
    status: 'running',
    reason: null,
    generation,
    starts: startsBy({ earlier }, state),
    lost: lostToLast({ earlier }, state, read),
    maxRestarts: 2,
    isOwnProgram: false,
    journal,
    metrics: read,
    now: begun + 100,
    ...facts,
  });
}
const running = [startLine(), ...steps(1, 95)];

describe('the health of a run', () => {
  it('is good, with its restarts, while nothing is wrong', () => {
    expect(health(running, [])).toEqual({ level: 'good', kind: 'healthy', text: 'healthy' });
    expect(health([], [], { isOwnProgram: true, generation: 3, starts: startsBy(null, null, 3) }).text).toBe(
      'healthy, 2 restarts',
    );
  });

  it('of an own program names the step since which its loss is no number', () => {
    const facts = { isOwnProgram: true, lossLostSince: 4 };
    const text = 'loss NaN or infinite since step 4';
    expect(health([], [], facts)).toEqual({ level: 'warning', kind: 'loss-lost', text });
    expect(health([], [], { ...facts, status: 'finished' })).toMatchObject({
      level: 'warning',
      text: `finished, ${text}`,
    });
  });

  it('names the rank that was killed, the step to go on from, and the count of restarts', () => {
    const lost = [killed(96, 1), killed(96.5, 0)];
    expect(health(running, lost)).toEqual({
      level: 'warning',
      kind: 'restarting',
      text: 'restarting: rank 1 on gpu2 was killed by signal 9 (SIGKILL), last step 80, restart 1 of 2',
    });
    const again = [...lost, started(99, 2)];
    const again2 = startLine({ ...at(100, 2), resumed_from: 'step-00000060' });
    const resumed = [...running, checkpoint(60, 62), again2];
    expect(health(resumed, again).text).toBe(
      'restarting: rank 1 on gpu2 was killed by signal 9 (SIGKILL), last step 80, from step 60, restart 1 of 2',
    );
    const on = [...resumed, ...steps(61, 70, { generation: 2 }).map((l) => ({ ...l, time: begun + 104 }))];
    expect(health(on, again, { now: begun + 110 })).toMatchObject({
      kind: 'recovered',
      text: expect.stringMatching(/^recovered from step 60, 38 s lost: rank 1 on gpu2/) as unknown,
    });
    expect(health(on.concat(steps(300, 330, { generation: 2 })), again, { now: begun + 331 }).text).toBe(
      'healthy, 1 restart',
    );
  });

  it('calls a resume by hand no restart, before its first step and after it', () => {
    const events = [killed(96, 1), started(199, 2)];
    const resumed = [...running, startLine({ ...at(200, 2), resumed_from: 'step-00000060' })];
    const facts = { maxRestarts: 0, now: begun + 205 };
    const of = (lines: Metric[]): Health => health(lines, events, facts, [begun + 198]);
    expect(of(resumed)).toEqual({ level: 'note', kind: 'resumed', text: 'resumed from step 60' });
    // A checkpoint of the new generation says that it trains, before any step line does.
    expect(of([...resumed, checkpoint(64, 203, 2)]).kind).not.toBe('resumed');
    const on = [...resumed, ...steps(61, 64, { ...at(204, 2) })];
    expect(of(on).text).toBe('healthy');
    // A restart by the supervisor after it is the first one.
    const again = [...events, killed(300, 0, 2), started(303, 3)];
    const last = startLine({ ...at(304, 3), resumed_from: 'step-00000060' });
    const earlier = [{ from: begun - 100, to: begun + 96, generation: 1 }];
    const state = { started: begun + 198, ended: null, updated: begun + 305, generation: 3 };
    const starts = startsBy({ earlier }, state);
    expect(health([...on, last], again, { maxRestarts: 1, starts }).text).toMatch(
      /^restarting: rank 0 .*, restart 1 of 1$/,
    );
  });

  it('ends a restart with the first checkpoint of the new generation', () => {
    const lines = [...running, startLine({ ...at(100, 2), resumed_from: 'step-00000060' })];
    const events = [killed(96, 1), started(99, 2)];
    expect(health(lines, events).kind).toBe('restarting');
    expect(health([...lines, checkpoint(64, 103, 2)], events).kind).not.toBe('restarting');
  });

  it('does not promise a restart that is not allowed', () => {
    const health3 = health(running, [started(0, 3), killed(96, 1, 3)]);
    expect(health3.level).toBe('error');
    expect(health3.text).not.toContain('restarting');
  });

  it('says that ranks stand still, until a step comes', () => {
    const stalled: RunEvent = {
      ...at(97),
      kind: 'stalled',
      seconds: 20,
      waiting_for: [{ rank: 1, host: 'gpu2' }],
      last_step: 95,
    };
    expect(health(running, [stalled])).toMatchObject({
      kind: 'stalled',
      text: 'stalled: no step for 20 s, waiting for rank 1 on gpu2',
    });
    const doing = [{ rank: 1, host: 'gpu2', what: 'waits for the disk: it reads /mnt/images/train-00012' }];
    expect(health(running, [{ ...stalled, doing }]).text).toBe(
      'stalled: no step for 20 s, waiting for rank 1 on gpu2, which waits for the disk: it reads /mnt/images/train-00012',
    );
    expect(health(running, [{ ...stalled, waiting_for: [], doing }]).text).toBe(
      'stalled: no step for 20 s; rank 1 on gpu2 waits for the disk: it reads /mnt/images/train-00012',
    );
    expect(health([...running, ...steps(98, 99)], [stalled]).kind).toBe('healthy');
  });

  it('says that an own program is silent, until output comes again', () => {
    const silent: RunEvent = {
      ...at(97),
      ...{ kind: 'stalled', silent: true, seconds: 450, last_step: null },
      waiting_for: [],
    };
    expect(health([], [silent])).toMatchObject({ kind: 'stalled', text: 'stalled: no output for 450 s' });
    const again: RunEvent = { ...at(98), kind: 'moving', seconds: 455 };
    expect(health([], [silent, again]).kind).not.toBe('stalled');
    const hang: RunEvent = { ...at(99), kind: 'hang', silent: true, ranks: [1], last_step: null };
    expect(health([], [silent, hang]).text).toContain('no output, silent longest: rank 1');
  });

  it('misses steps by their usual distance', () => {
    const now = begun + 95 + 40;
    expect(health(running, [], { now })).toMatchObject({
      kind: 'silent',
      text: 'no figures for 40 s, the last of step 95',
    });
    const slow = [10, 40, 70].map((time) => stepLine(time, { time: begun + time }));
    expect(health(slow, [], { now: begun + 110 }).kind).toBe('healthy');
  });

  it('counts each unreadable image once, and does not call such a run simply finished', () => {
    const bad = (path: string): Metric => ({ kind: 'bad_image', ...at(3), path, message: 'no', count: 1 });
    const few = [startLine({ train_images: 36 }), bad('a'), bad('b'), bad('a')];
    expect(health(few, [])).toMatchObject({ level: 'warning', text: '2 of 36 images could not be read' });
    expect(health(few, [], { status: 'finished' })).toMatchObject({
      level: 'warning',
      text: 'finished, 2 of 36 images could not be read',
    });
    expect(health([], [], { status: 'finished' })).toMatchObject({ level: 'good', text: 'finished' });
  });

  it('says what a step waits for', () => {
    const waiting = steps(1, 95, { step_ms: 100, input_wait_ms: 42, comm_ms: 10 });
    expect(health(waiting, []).text).toBe('input-bound: 42% of a step waits for images');
    const summing = steps(1, 95, { step_ms: 100, input_wait_ms: 1, comm_ms: 55 });
    expect(health(summing, []).text).toBe('communication-bound: 55% of a step sums gradients');
  });

  it('names the rank for which the others wait, with its host, and says when that is over', () => {
    const ranks = (from: number, to: number, slow: boolean): Metric[] =>
      Array.from({ length: to - from + 1 }, (_, row) => from + row).flatMap((time) =>
        [0, 1].map((rank) => {
          const figures = { compute_ms: rank === 1 && slow ? 98 : 50, comm_ms: 1, input_wait_ms: 0 };
          return hostLine(time, rank, { time: begun + time, ...figures });
        }),
      );
    expect(health([...running, ...ranks(1, 80, false), ...ranks(81, 95, true)], [])).toEqual({
      level: 'warning',
      kind: 'slow-rank',
      text: 'slow: rank 1 on gpu2, computes 96% longer than the median of the others',
    });
    const over = [...running, ...ranks(1, 85, true), ...ranks(86, 95, false)];
    expect(health(over, [])).toEqual({
      level: 'note',
      kind: 'recovered',
      text: 'recovered: rank 1 on gpu2 is as fast as the others again',
    });
    expect(health([...over, ...steps(210, 220)], [], { now: begun + 220 }).kind).toBe('healthy');
    expect(health([...running, ...ranks(1, 95, false)], []).kind).toBe('healthy');
  });

  it('says a lost node, a full disk and a failed checkpoint, until a checkpoint is written', () => {
    const lost: RunEvent = { ...at(96), kind: 'node_lost', host: 'gpu2', reason: 'no answer for 20 s' };
    expect(health(running, [lost])).toMatchObject({ kind: 'node-lost', level: 'warning' });
    const low: RunEvent = { ...at(50), kind: 'disk_low', free_bytes: 1e6 };
    expect(health(running, [low])).toMatchObject({ kind: 'disk-low', text: 'disk is low: 1.0 MB free' });
    const money = { cost: 8.1, amount: 10, currency: 'EUR', stops: true };
    const budget: RunEvent = { ...at(50), kind: 'budget_low', ...money };
    expect(health(running, [budget])).toMatchObject({
      kind: 'budget',
      text: 'budget: 8.10 EUR of 10.00 EUR are spent, and the run stops at its end',
    });
    const saved: RunEvent = { ...at(60), kind: 'checkpoint', step: 60, path: 'p', bytes: 1 };
    expect(health(running, [low, saved]).kind).toBe('healthy');
  });

  it('says that evaluations are missing where the evaluator failed, until it is started again', () => {
    const ended: RunEvent = { ...at(60), kind: 'evaluator_exited', pid: 7, exit_code: 3, signal: null };
    const text = 'no evaluations since step 40: the evaluator ended with exit code 3; see the log of eval';
    const evaluated = [...running, evalLine(40, 0.5)];
    expect(health(evaluated, [ended])).toEqual({ level: 'warning', kind: 'evaluator', text });
    expect(health(running, [ended]).text).toMatch(/^no evaluations: the evaluator ended/);
    const over = health(evaluated, [ended], { status: 'finished' });
    expect(over).toEqual({ level: 'warning', kind: 'evaluator', text: `finished, ${text}` });
    const again: RunEvent = { ...at(62), kind: 'evaluator_started', pid: 8 };
    expect(health(evaluated, [ended, again]).kind).toBe('healthy');
    const well: RunEvent = { ...ended, exit_code: 0 };
    expect(health(evaluated, [well], { status: 'finished' }).level).toBe('good');
    // A stop now kills it; that is no trouble.
    const killedToo: RunEvent = { ...ended, exit_code: null, signal: 9 };
    expect(health(evaluated, [killedToo], { status: 'stopped' }).level).toBe('good');
    expect(health(evaluated, [killedToo], { status: 'finished' }).text).toContain('was killed by signal 9');
  });

  it('says that GPUs are idle while the run is running, and graver things first', () => {
    const idleGpus = { idle: 2, all: 4, seconds: 905 };
    expect(health(running, [], { idleGpus })).toEqual({
      level: 'warning',
      kind: 'idle-gpus',
      text: '2 of 4 GPUs idle for 15 min',
    });
    const one = { idle: 1, all: 1, seconds: 3600 };
    expect(health(running, [], { idleGpus: one }).text).toBe('1 of 1 GPU idle for 60 min');
    for (const status of ['starting', 'evaluating', 'stopping', 'queued', 'finished'] as const) {
      expect(health(running, [], { idleGpus, status }).kind).not.toBe('idle-gpus');
    }
    expect(health(running, [killed(96, 1)], { idleGpus }).kind).toBe('restarting');
    expect(health(running, [], { idleGpus, now: begun + 200 }).kind).toBe('silent');
  });

  it('of a run that is over is how it ended', () => {
    expect(health(running, [killed(96, 1)], { status: 'failed', reason: 'out of memory' })).toEqual({
      level: 'error',
      kind: 'over',
      text: 'failed: out of memory',
    });
    expect(health(running, [], { status: 'interrupted' }).level).toBe('error');
  });
});

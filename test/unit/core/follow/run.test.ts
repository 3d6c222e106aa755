import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { Cancelled } from '../../../../src/core/base/errors.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { OverviewReader } from '../../../../src/core/follow/overview.js';
import { RunFollower, type FollowedLine } from '../../../../src/core/follow/run.js';
import { summarize } from '../../../../src/core/model/runSummary.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';
import type { QueueStand } from '../../../../src/core/contracts/agentApi.js';
import type { Metric } from '../../../../src/core/contracts/metricsSchema.js';
import { StepTable } from '../../../../src/core/model/series/stepTable.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';

const json = (value: object): string => `${JSON.stringify(value)}\n`;
const finished = json({
  time: 1,
  generation: 1,
  kind: 'finished',
  phase: 'finished',
  exit_code: 0,
  reason: null,
  seconds: 60,
});

interface Following {
  run: FakeRun;
  node: AgentNode;
  follower: RunFollower;
  metrics: FollowedLine<Metric>[];
  changes: string[];
}
function following(staleState?: number): Following {
  const run = new FakeRun();
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const follower = new RunFollower({
    dir: nodePath(run.dir),
    client: () => node.client(),
    pollInterval: 10,
    ...(staleState === undefined ? {} : { staleState }),
  });
  const metrics: FollowedLine<Metric>[] = [];
  const changes: string[] = [];
  follower.onMetric((line) => metrics.push(line));
  follower.onConnection((change) => changes.push(change));
  return { run, node, follower, metrics, changes };
}
const stand = (kind: 'waiting' | 'ended', text: string): QueueStand => ({
  ...{ job: '7', kind, text, state: kind === 'waiting' ? 'PENDING' : 'CANCELLED' },
  ...{ reason: null, place: null, start: null, secondsLeft: null },
});
const steps = (lines: readonly FollowedLine<Metric>[]): (number | undefined)[] =>
  lines.map(({ value }) => (value?.kind === 'step' ? value.step : undefined));

describe('RunFollower', () => {
  it('of a resumed run ends where its job left the queue, though its state is that of the start before', async () => {
    const { run, node, follower } = following(5);
    run.state = stateOf('stopped', 5);
    run.queue = stand('waiting', 'it is next');
    let over = false;
    const end = follower.follow().finally(() => {
      over = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    run.queue = undefined;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(over).toBe(false);
    run.queue = stand('ended', "Slurm's job 7 is over: it was cancelled");
    expect((await end).queue?.kind).toBe('ended');
    node.dispose();
  });

  it('delivers every line with its offset, to the very end of the run', async () => {
    const { run, node, follower, metrics } = following();
    run.append('metrics.jsonl', json(stepLine(1)));
    const events: unknown[] = [];
    follower.onEvent(({ value }) => events.push(value?.kind));
    const end = follower.follow();
    await expect.poll(() => steps(metrics)).toEqual([1]);
    run.append('metrics.jsonl', json(stepLine(2)).slice(0, 20));
    run.append('metrics.jsonl', json(stepLine(2)).slice(20));
    run.state = stateOf('finished');
    run.append('metrics.jsonl', json(stepLine(3)));
    run.append('events.jsonl', finished);
    expect((await end).state?.phase).toBe('finished');
    expect(steps(metrics)).toEqual([1, 2, 3]);
    expect(metrics.map(({ offset }) => offset)).toEqual([
      0,
      json(stepLine(1)).length,
      json(stepLine(1)).length + json(stepLine(2)).length,
    ]);
    expect(events).toEqual(['finished']);
    follower.dispose();
    node.dispose();
  });

  it('neither loses nor doubles a line over lost connections', async () => {
    const { run, node, follower, metrics, changes } = following();
    run.append('metrics.jsonl', '');
    const end = follower.follow();
    let step = 0;
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 5; index++) run.append('metrics.jsonl', json(stepLine(++step)));
      const half = json(stepLine(++step));
      run.append('metrics.jsonl', half.slice(0, 30));
      if (round < 3) await expect.poll(() => metrics.length).toBe(step - 1);
      run.drop();
      run.append('metrics.jsonl', half.slice(30));
      await expect.poll(() => metrics.length, { timeout: 5000 }).toBe(step);
    }
    run.append('events.jsonl', finished);
    run.state = stateOf('finished');
    await end;
    expect(steps(metrics)).toEqual(Array.from({ length: step }, (_, index) => index + 1));
    expect(changes.slice(0, 2)).toEqual(['lost', 'back']);
    follower.dispose();
    node.dispose();
  });

  it('passes on lines it does not understand, as they are', async () => {
    const { run, node, follower, metrics } = following();
    run.append(
      'metrics.jsonl',
      json({ kind: 'weather', sun: 1 }) + 'not json\n' + json({ ...stepLine(1), extra: true }),
    );
    run.append('events.jsonl', finished);
    run.state = stateOf('stopped');
    await follower.follow();
    expect(metrics.map(({ raw }) => raw)).toEqual([
      { kind: 'weather', sun: 1 },
      undefined,
      { ...stepLine(1), extra: true },
    ]);
    expect(steps(metrics)).toEqual([undefined, undefined, 1]);
    follower.dispose();
    node.dispose();
  });

  it('starts over when the file was replaced, and says so', async () => {
    const { run, node, follower, metrics } = following();
    let resets = 0;
    follower.onReset(() => resets++);
    run.append('metrics.jsonl', json(stepLine(1)) + json(stepLine(2)));
    const end = follower.follow();
    await expect.poll(() => steps(metrics)).toEqual([1, 2]);
    run.replace('metrics.jsonl', json(stepLine(9)));
    await expect.poll(() => steps(metrics)).toEqual([1, 2, 9]);
    expect(resets).toBe(1);
    run.append('events.jsonl', finished);
    run.state = stateOf('failed');
    await end;
    follower.dispose();
    node.dispose();
  });

  it('does not take the end of an earlier run in the folder for its own', async () => {
    const { run, node, follower, metrics } = following(5);
    run.state = stateOf('stopped', 5);
    run.append('events.jsonl', finished);
    run.append('metrics.jsonl', json(stepLine(1)));
    const end = follower.follow();
    await expect.poll(() => steps(metrics)).toEqual([1]);
    run.state = stateOf('running', 6);
    run.append('events.jsonl', json({ time: 2, generation: 1, kind: 'created', id: 'r' }));
    run.append('metrics.jsonl', json(stepLine(2)));
    await expect.poll(() => steps(metrics)).toEqual([1, 2]);
    run.append('events.jsonl', finished);
    run.state = stateOf('finished', 7);
    expect((await end).state?.updated).toBe(7);
    follower.dispose();
    node.dispose();
  });

  it('ends with an interrupted run', async () => {
    const { run, node, follower } = following();
    run.interrupted = true;
    expect((await follower.follow()).interrupted).toBe(true);
    follower.dispose();
    node.dispose();
  });

  it('fails when the run is gone, and is cancelled by dispose', async () => {
    const first = following();
    first.run.gone = true;
    await expect(first.follower.follow()).rejects.toMatchObject({ code: 1 });
    const second = following();
    const end = second.follower.follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    second.follower.dispose();
    await expect(end).rejects.toBeInstanceOf(Cancelled);
    for (const { node } of [first, second]) node.dispose();
  });
});

describe('OverviewReader', () => {
  it('reads what is new only, and ended runs once', async () => {
    const run = new FakeRun();
    run.append('metrics.jsonl', json(startLine({ total_steps: 2000 })));
    for (let step = 1; step <= 1000; step++) run.append('metrics.jsonl', json(stepLine(step)));
    run.append('metrics.jsonl', json(evalLine(1000, 0.75)));
    run.append('metrics.jsonl', '{"kind":"step","unfinished');
    const agent = run.connect();
    const node = new AgentNode({ open: () => Promise.resolve(agent.stream()) });
    const client = await node.client();
    const reader = new OverviewReader();
    const begun = await client.request('run.get', { dir: nodePath(run.dir) });
    const entry = { ...begun };
    expect(await reader.read(client, entry)).toMatchObject({
      status: 'running',
      step: 1000,
      totalSteps: 2000,
      imagesPerSec: 640,
      top1: 0.75,
      best: { step: 1000, top1: 0.75 },
    });
    const read = agent.requests
      .filter(({ method }) => method === 'file.read')
      .map(({ params }) => Number(params['length']));
    const size = begun.files['metrics.jsonl'] ?? 0;
    expect(read.reduce((sum, length) => sum + length, 0)).toBe(size);
    run.append('metrics.jsonl', json(evalLine(1001, 0.5)).slice(1).replace(/^/, '\n{'));
    await reader.read(client, entry);
    const last = agent.requests.filter(({ method }) => method === 'file.read').at(-1);
    expect(last?.params['offset']).toBe(size);
    run.state = stateOf('finished');
    const over = await client.request('run.get', { dir: nodePath(run.dir) });
    const first = await reader.read(client, over);
    expect(first.imagesPerSec).toBeUndefined();
    const before = agent.requests.length;
    expect(await reader.read(client, over)).toEqual(first);
    const about = { name: 'said later', tags: [], notes: '' };
    expect((await reader.read(client, { ...over, about })).entry.about).toBe(about);
    expect(agent.requests.length).toBe(before);
    reader.retain([]);
    expect(await reader.read(client, over)).not.toBe(first);
    node.dispose();
  });
});

it('summarize gives the figures of the contract', async () => {
  const run = new FakeRun();
  run.state = stateOf('finished');
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const details = await (await node.client()).request('run.get', { dir: nodePath(run.dir) });
  const metrics = new RunMetrics(new StepTable());
  metrics.add(startLine());
  metrics.add(stepLine(10, { images_per_sec: 640 }));
  metrics.add(evalLine(10, 0.9));
  metrics.add(evalLine(20, 0.8));
  expect(summarize(details, metrics, 3)).toMatchObject({
    id: 'r',
    dir: '/w/runs/r',
    phase: 'finished',
    exit_code: 0,
    images_per_sec: 640,
    seconds: 60,
    top1: 0.8,
    best_top1: 0.9,
    checkpoints: 3,
    reason: null,
    evaluator: null,
  });
  const failed = {
    time: 1,
    generation: 1,
    kind: 'evaluator_exited',
    pid: 7,
    exit_code: 3,
    signal: null,
  } as const;
  expect(summarize(details, metrics, 3, undefined, { evaluator: failed }).evaluator).toBe(
    'no evaluations since step 20: the evaluator ended with exit code 3',
  );
  const end = { kind: 'end', time: 60, generation: 1, step: 20, seconds: 9, images_per_sec: 9 } as const;
  metrics.add({ ...end, reason: 'finished', early_stop: true });
  const stopped = {
    ...details,
    run: { limits: {}, ranks: 2, argv: ['train', '--early-stop', '10'] } as never,
  };
  expect(summarize(stopped, metrics, 3).reason).toBe('early stop: no better evaluation for 10');
  metrics.add({ ...end, reason: 'finished', early_stop: false });
  expect(summarize(stopped, metrics, 3).reason).toBeNull();
  const earlier = [{ from: 10, to: 40 }];
  const resumed = { ...details, run: { earlier, limits: {}, ranks: 2, argv: [] } as never };
  expect(summarize(resumed, metrics, 3).seconds).toBe(90);
  node.dispose();
});

describe('AgentNode', () => {
  it('has one connection, and makes a new one after it was lost', async () => {
    const run = new FakeRun();
    let opened = 0;
    const node = new AgentNode({
      open: () => {
        opened++;
        return Promise.resolve(run.connect().stream());
      },
    });
    const [a, b] = await Promise.all([node.client(), node.client()]);
    expect(a).toBe(b);
    run.drop();
    await expect.poll(() => a.isClosed).toBe(true);
    const [c, d] = await Promise.all([node.client(), node.client()]);
    expect(c).toBe(d);
    expect(c).not.toBe(a);
    expect(opened).toBe(2);
    node.dispose();
    await expect(node.client()).rejects.toBeInstanceOf(Cancelled);
  });

  it('tries anew after a failure', async () => {
    const run = new FakeRun();
    let opened = 0;
    const node = new AgentNode({
      open: () =>
        opened++ === 0 ? Promise.reject(new Error('no route')) : Promise.resolve(run.connect().stream()),
    });
    await expect(node.client()).rejects.toThrow('no route');
    expect((await node.client()).isClosed).toBe(false);
    node.dispose();
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { nullLogger } from '../../../../src/core/base/log.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import type { RunOverview } from '../../../../src/core/follow/overview.js';
import { RunFeed } from '../../../../src/core/follow/runFeed.js';
import { RunFeeds } from '../../../../src/core/follow/runFeeds.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';

const json = (value: object): string => `${JSON.stringify(value)}\n`;
const event = (kind: string, fields: object = {}): string =>
  json({ time: 5, generation: 1, kind, ...fields });
const finished = event('finished', { phase: 'finished', exit_code: 0, reason: null, seconds: 60 });
const sample = (time: number): string =>
  json({
    time,
    host: 'h',
    cpu_percent: 1,
    memory_used: 1,
    memory_total: 2,
    disk_free: 3,
    gpus: [],
  });

const open: { dispose: () => void }[] = [];
afterEach(() => {
  for (const item of open.splice(0)) item.dispose();
});
function feeding(run: FakeRun): RunFeed {
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const feed = new RunFeed({ dir: nodePath(run.dir), client: () => node.client() });
  open.push(feed, node);
  return feed;
}

describe('RunFeed', () => {
  it('gathers all of a run that is over: metrics, journal, figures, the ends of its logs', async () => {
    const run = new FakeRun();
    run.piece = 4096;
    run.append(
      'metrics.jsonl',
      json(startLine()) + json(stepLine(10)) + json(stepLine(20)) + json(evalLine(20, 0.9)),
    );
    run.append('events.jsonl', event('checkpoint', { step: 20, path: 'p', bytes: 2e6 }) + finished);
    run.append('gpus/h.jsonl', sample(1) + sample(2) + 'half a li');
    run.append('logs/rank-0.log', `${'x'.repeat(70_000)}\nlast words: error\n`);
    run.append('logs/eval.log', 'evaluated\n');
    run.state = stateOf('finished');
    const feed = feeding(run);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('finished');
    const { model } = feed;
    expect(model.steps.length).toBe(2);
    expect(model.metrics.best).toMatchObject({ step: 20, top1: 0.9, time: stepLine(20).time });
    expect(model.marks.all.map(({ kind }) => kind)).toEqual(['checkpoint', 'end']);
    expect(model.hosts.get('h')?.slice()?.rows.time).toEqual([1, 2]);
    const lines = model.log.since(0);
    expect(lines.map(({ source }) => source)).toEqual(expect.arrayContaining(['journal', 'rank 0', 'eval']));
    expect(lines.find(({ source }) => source === 'rank 0')).toMatchObject({
      text: 'last words: error',
      level: 'error',
    });
    expect(lines.some(({ text }) => text.startsWith('xxx'))).toBe(false);
  });

  it('goes on over a lost connection, and neither loses nor doubles anything', async () => {
    const run = new FakeRun();
    run.append('metrics.jsonl', json(startLine()) + json(stepLine(1)));
    run.append('gpus/h.jsonl', sample(1));
    const feed = feeding(run);
    feed.start();
    feed.start();
    await expect.poll(() => feed.model.metrics.lastStep?.step).toBe(1);
    run.drop();
    run.append('metrics.jsonl', json(stepLine(2)));
    run.append('gpus/h.jsonl', sample(2));
    await expect.poll(() => feed.model.metrics.lastStep?.step, { timeout: 4000 }).toBe(2);
    await expect.poll(() => feed.connection.state).toBe('connected');
    await expect.poll(() => feed.model.hosts.get('h')?.slice()?.rows.time).toEqual([1, 2]);
    expect(feed.model.steps.length).toBe(2);
  });

  it('reads nothing twice of a run that is over and has not changed', async () => {
    const run = new FakeRun();
    run.append('metrics.jsonl', json(startLine()) + json(stepLine(1)));
    run.append('events.jsonl', finished);
    run.append('logs/rank-0.log', 'a line\n');
    run.state = stateOf('finished');
    const feed = feeding(run);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('finished');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { end } = feed.model.log;
    feed.start();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(feed.model.log.end).toBe(end);
    expect(feed.model.marks.all).toHaveLength(1);
  });

  it('looks again at a run that is over once a short outage has passed', async () => {
    const run = new FakeRun();
    run.append('metrics.jsonl', json(startLine()) + json(stepLine(10)));
    run.append('events.jsonl', finished);
    run.state = stateOf('finished');
    const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
    let isOut = false;
    let asked = 0;
    const feed = new RunFeed({
      dir: nodePath(run.dir),
      client: () => {
        asked++;
        if (isOut) return Promise.reject(new UserError('connection', 'gpu1 was lost', ''));
        return node.client();
      },
    });
    open.push(feed, node);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('finished');
    await new Promise((resolve) => setImmediate(resolve)); // it has ended
    isOut = true;
    asked = 0;
    feed.start();
    await expect.poll(() => feed.connection.state).toBe('lost');
    await expect.poll(() => asked).toBeGreaterThan(1);
    expect(feed.problem).toBeUndefined();
    expect(feed.model.steps.length).toBe(1); // what is known stays
    isOut = false;
    await expect.poll(() => feed.connection.state).toBe('connected');
    expect(feed.problem).toBeUndefined();
    expect(feed.model.steps.length).toBe(1);
  });

  it('leaves no look behind that waits for a lost connection', async () => {
    const run = new FakeRun();
    run.append('events.jsonl', finished);
    run.state = stateOf('finished');
    const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
    let isOut = false;
    let asked = 0;
    const lost = new UserError('connection', 'gpu1 was lost', '');
    const client = (): ReturnType<AgentNode['client']> => {
      asked++;
      return isOut ? Promise.reject(lost) : node.client();
    };
    const feed = new RunFeed({ dir: nodePath(run.dir), client });
    open.push(feed, node);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('finished');
    await new Promise((resolve) => setImmediate(resolve));
    isOut = true;
    feed.start();
    await expect.poll(() => feed.connection.state).toBe('lost');
    feed.dispose();
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toBe(before);
  });

  it('says when the run is gone', async () => {
    const run = new FakeRun();
    run.gone = true;
    const feed = feeding(run);
    feed.start();
    await expect.poll(() => feed.problem).toMatchObject({ message: 'not found' });
  });

  it('reads anew when the run was continued in its folder', async () => {
    const run = new FakeRun();
    run.append('metrics.jsonl', json(startLine()) + json(stepLine(1)));
    run.append('events.jsonl', finished);
    run.state = stateOf('finished');
    const feed = feeding(run);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('finished');
    await new Promise((resolve) => setTimeout(resolve, 20));
    run.state = stateOf('running', 2);
    run.append(
      'metrics.jsonl',
      json(startLine({ generation: 2, resumed_from: 'step-00000001' })) +
        json(stepLine(2, { generation: 2 })),
    );
    feed.start();
    await expect.poll(() => feed.model.metrics.lastStep?.step, { timeout: 4000 }).toBe(2);
    expect(feed.model.steps.slice().rows.step).toEqual([1, 2]);
    expect(feed.model.marks.all.filter(({ kind }) => kind === 'end')).toHaveLength(1);
  });

  it('follows a run that waits in a queue with the state that its start before left', async () => {
    const run = new FakeRun();
    run.append('events.jsonl', finished);
    run.state = stateOf('stopped');
    const feed = feeding(run);
    feed.start();
    await expect.poll(() => feed.model.status).toBe('stopped');
    await new Promise((resolve) => setTimeout(resolve, 20));
    run.queue = {
      ...{ job: '7', kind: 'waiting', state: 'PENDING', text: 'it is next' },
      ...{ reason: null, place: null, start: null, secondsLeft: null },
    };
    feed.start();
    await expect.poll(() => feed.model.status).toBe('queued');
    run.queue = undefined;
    run.state = stateOf('running', 2);
    await expect.poll(() => feed.model.status, { timeout: 4000 }).toBe('running');
  });
});

it('RunFeeds follows again what a look finds under way, after a connection that somebody ended', async () => {
  const run = new FakeRun();
  const nodeOf = (): AgentNode => {
    const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
    open.push(node);
    return node;
  };
  let node = nodeOf();
  const feeds = new RunFeeds(() => node.client());
  open.push(feeds);
  const { feed } = feeds.use('lab', nodePath(run.dir));
  await expect.poll(() => feed.model.status).toBe('running');
  (await node.client()).dispose();
  node.dispose();
  await expect.poll(() => feed.connection.state, { timeout: 4000 }).toBe('lost');
  await new Promise((resolve) => setTimeout(resolve, 20));
  node = nodeOf();
  run.append('metrics.jsonl', json(startLine()) + json(stepLine(3)));
  const found = { entry: { dir: nodePath(run.dir) }, status: 'running' } as RunOverview;
  const look = (seen: number | undefined): void => {
    feeds.lookAtAll({ profile: 'lab', runs: [found], problem: undefined, seen });
  };
  look(undefined); // the cluster is not connected
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(feed.connection.state).toBe('lost');
  look(100);
  await expect.poll(() => feed.model.metrics.lastStep?.step, { timeout: 4000 }).toBe(3);
  expect(feed.connection.state).toBe('connected');
});

it('RunFeeds shares one feed among all who look at a run', () => {
  const run = new FakeRun();
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const feeds = new RunFeeds(() => node.client());
  open.push(feeds, node);
  const first = feeds.use('local', nodePath(run.dir));
  const second = feeds.use('local', nodePath(run.dir));
  expect(second.feed).toBe(first.feed);
  expect(feeds.use('other', nodePath(run.dir)).feed).not.toBe(first.feed);
  first.dispose();
  first.dispose();
  second.dispose();
  expect(feeds.use('local', nodePath(run.dir)).feed).toBe(first.feed); // kept for a moment
});

it('RunFeeds tells of each look at a run, and of which profile it is', async () => {
  const run = new FakeRun();
  const node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
  const looks: string[] = [];
  const feeds = new RunFeeds(
    () => node.client(),
    nullLogger,
    (profile, { dir, state }) => looks.push(`${profile} ${dir} ${state?.phase}`),
  );
  open.push(feeds, node);
  feeds.use('lab', nodePath(run.dir));
  await expect.poll(() => looks.length, { timeout: 4000 }).toBeGreaterThan(1);
  expect(new Set(looks)).toEqual(new Set([`lab ${run.dir} running`]));
});

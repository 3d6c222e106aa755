import { expect, it } from 'vitest';
import { AgentClient } from '../../../../src/core/agent/agentClient.js';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { RunFollower } from '../../../../src/core/follow/run.js';
import { outputFiles } from '../../../../src/core/follow/runOutput.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';

const details = (...names: string[]): RunDetails => ({
  ...{ id: 'r', dir: '/r' as RunDetails['dir'], run: null, state: null, interrupted: false },
  files: Object.fromEntries(names.map((name) => [name, 10])),
  stamps: {},
});

it('follows the logs of the first ranks alone, each behind what an earlier run left', () => {
  const seen: [number, string][] = [];
  const files = outputFiles((rank, text) => seen.push([rank, text]), { 'logs/rank-1.log': 7 });
  const found = files(
    details('logs/rank-1.log', 'logs/eval.log', 'logs/rank-0.log', 'logs/rank-16.log', 'metrics.jsonl'),
  );
  expect(found.map(({ name, start }) => [name, start])).toEqual([
    ['logs/rank-0.log', 0],
    ['logs/rank-1.log', 7],
  ]);
  found[1]?.onLine({ offset: 7, text: 'a line\r' });
  found[1]?.onUnfinished?.('half', 0);
  expect(seen).toEqual([
    [1, 'a line'],
    [1, 'half'],
  ]);
});

it('shows a progress bar while its line grows, and of the line its last state', async () => {
  const run = new FakeRun();
  const client = await AgentClient.connect(run.connect().stream());
  run.append('logs/rank-0.log', '\r0/12 it/s');
  const seen: string[] = [];
  const extras = outputFiles((_, text) => seen.push(text), {}, 0);
  const follower = new RunFollower({
    dir: nodePath(run.dir),
    client: () => Promise.resolve(client),
    pollInterval: 5,
    extras,
  });
  const end = follower.follow();
  await expect.poll(() => seen).toEqual(['0/12 it/s']);
  run.append('logs/rank-0.log', '\r1/12 it/s\r2/12 it/s\r');
  await expect.poll(() => seen).toEqual(['0/12 it/s', '2/12 it/s']);
  run.append('logs/rank-0.log', '3/12 it/s\r4/12 it/s\nno bar\r\n\r5/12 it/s');
  await expect.poll(() => seen.slice(2)).toEqual(['4/12 it/s', 'no bar', '5/12 it/s']);
  run.append('events.jsonl', '{"time":1,"generation":1,"kind":"finished","phase":"finished"}\n');
  run.state = stateOf('finished', 2);
  await end;
  expect(seen.slice(5)).toEqual([]); // the last state was shown already
  follower.dispose();
  client.dispose();
});

// What the list of runs reads of the figures of GPUs: little while they work, and enough once one
// does not.
import { expect, it } from 'vitest';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { HeldSpan } from '../../../../src/core/contracts/runSchema.js';
import { OverviewReader } from '../../../../src/core/follow/overview.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';
import { gpuSample } from '../../support/hostSamples.js';

const file = 'gpus/gpu1.jsonl';
const lines = (from: number, to: number, utilization: readonly number[]): string =>
  Array.from(
    { length: to - from },
    (_, second) => `${JSON.stringify(gpuSample(from + second, utilization))}\n`,
  ).join('');

/** A run with two GPUs that began at 100 and is now at `updated`. */
async function reading(run: FakeRun) {
  const agent = run.connect();
  const node = new AgentNode({ open: () => Promise.resolve(agent.stream()) });
  const client = await node.client();
  const reader = new OverviewReader();
  return async (updated: number, phase: 'running' | 'evaluating' = 'running') => {
    run.state = stateOf(phase, updated);
    const seen = agent.requests.length;
    const details = await client.request('run.get', { dir: nodePath(run.dir) });
    const started = { gpus: [0, 1], earlier: [] as HeldSpan[], limits: { maxRestarts: 0 } };
    const { health } = await reader.read(client, { ...details, run: started as never });
    const bytes = agent.requests
      .slice(seen)
      .filter(({ method, params }) => method === 'file.read' && String(params['path']).endsWith(file))
      .reduce((sum, { params }) => sum + Number(params['length']), 0);
    return { kind: health.kind, text: health.text, bytes };
  };
}

it('reads only the newest lines while all GPUs work, and a quarter of an hour where one is idle', async () => {
  const run = new FakeRun();
  const look = await reading(run);
  run.append(file, lines(100, 1100, [97, 96]));
  expect(await look(1100)).toEqual({ kind: 'healthy', text: 'healthy', bytes: 32 * 1024 });
  run.append(file, lines(1100, 2050, [97, 1]));
  expect((await look(1130)).bytes).toBe(0); // too soon
  expect((await look(2050)).text).toBe('1 of 2 GPUs idle for 16 min');
  expect((await look(2050, 'evaluating')).kind).toBe('healthy');
  run.append(file, lines(2050, 2120, [97, 80]));
  expect((await look(2120)).kind).toBe('healthy');
});

it('finds at its first look that a GPU has been idle, and reads a file that was thinned anew', async () => {
  const run = new FakeRun();
  const look = await reading(run);
  run.append(file, lines(100, 2100, [0, 97]));
  const first = await look(2100);
  expect(first).toMatchObject({ kind: 'idle-gpus', text: '1 of 2 GPUs idle for 33 min' });
  run.replace(file, lines(1900, 2200, [0, 97]));
  expect((await look(2200)).kind).toBe('healthy');
});

import { afterEach, expect, it } from 'vitest';
import { AgentClient } from '../../../../src/core/agent/agentClient.js';
import { checkpointLoss } from '../../../../src/core/checkpoints/remove.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { FakeAgent, type Request } from '../../support/fakeAgent.js';
import { stateOf } from '../../support/fakeRun.js';
import { evalLine } from '../../support/lines.js';

const lists: Record<string, readonly (readonly [step: number, valid: boolean])[]> = {};
const metrics = `${JSON.stringify(evalLine(20, 0.5))}\n${JSON.stringify(evalLine(40, 0.75))}\n`;
let client: AgentClient | undefined;
afterEach(() => client?.dispose());

function answer({ method, params }: Request): object {
  const { dir = '' } = params as { dir?: string };
  if (method === 'checkpoint.list') {
    const checkpoints = (lists[dir] ?? []).map(([step, valid]) => ({
      ...{ step, path: `checkpoints/step-${step}`, bytes: 1, time: 1, valid },
    }));
    return { result: { checkpoints } };
  }
  if (method === 'run.get') {
    const run = { id: 'r', dir, run: null, state: null, interrupted: false };
    return { result: { ...run, files: { 'metrics.jsonl': metrics.length }, stamps: {} } };
  }
  const { offset = 0 } = params as { offset?: number };
  const data = Buffer.from(metrics).subarray(offset).toString('base64');
  return { result: { data, offset, size: metrics.length, inode: 1 } };
}

const entry = (dir: string, phase: 'running' | 'finished', from?: object): RunEntry =>
  ({
    id: dir,
    dir: nodePath(dir),
    run: { from, limits: {}, argv: [] },
    state: stateOf(phase),
    interrupted: false,
  }) as unknown as RunEntry;
async function loss(step: number, run: RunEntry, others: RunEntry[] = []): ReturnType<typeof checkpointLoss> {
  client = await AgentClient.connect(new FakeAgent(answer).stream());
  return checkpointLoss(client, run, step, others);
}

it('names the accuracy, and that it is the best', async () => {
  lists['/r'] = [
    [20, true],
    [40, true],
  ];
  const { facts, needs } = await loss(40, entry('/r', 'finished'));
  expect(facts).toEqual(['Its top-1 accuracy is 75.0%, the best of the run']);
  expect(needs).toEqual([]);
});

it('says of a run under way from where a restart would go on', async () => {
  lists['/r'] = [
    [20, true],
    [40, true],
  ];
  expect((await loss(40, entry('/r', 'running'))).needs).toEqual([
    'The run is under way: a restart would go on from step 20 in place of step 40',
  ]);
  client?.dispose();
  expect((await loss(20, entry('/r', 'running'))).needs).toEqual([]);
});

it('says of runs that began with it and have nothing of their own', async () => {
  lists['/r'] = [
    [20, true],
    [40, true],
  ];
  lists['/young'] = [];
  lists['/old'] = [[3, true]];
  const from = { dir: '/r', step: 20 };
  const others = [entry('/young', 'finished', from), entry('/old', 'running', from), entry('/x', 'running')];
  expect((await loss(20, entry('/r', 'finished'), others)).needs).toEqual([
    '/young began with it, and has no checkpoint of its own: it could not start again',
  ]);
});

it('refuses the last valid one, but not a damaged one', async () => {
  lists['/r'] = [
    [20, true],
    [40, false],
  ];
  await expect(loss(20, entry('/r', 'finished'))).rejects.toThrow('is the last valid checkpoint of /r');
  client?.dispose();
  expect((await loss(40, entry('/r', 'finished'))).facts).toEqual(['It is not valid, so no run can use it']);
});

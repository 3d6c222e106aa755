import { expect, it } from 'vitest';
import { errorText } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { localProfile } from '../../../../src/core/contracts/profileSchema.js';
import { deleteRunFolders, deletionNotes } from '../../../../src/core/follow/deletion.js';
import { FakeAgent, type Request } from '../../support/fakeAgent.js';

const remains = (...stays: string[]): object => ({
  stays,
  stayCount: stays.length,
  folderStays: stays.length > 0,
});

function node(answer: (request: Request) => object): { agent: FakeAgent; node: AgentNode } {
  const agent = new FakeAgent(answer);
  return { agent, node: new AgentNode({ open: () => Promise.resolve(agent.stream()) }) };
}

it('asks every other node of the run too, and names those that were not reached and what stays', async () => {
  const head = node(() => ({ result: remains('notes.txt') }));
  const second = node(() => ({ result: remains('mine') }));
  const dead = new AgentNode({ open: () => Promise.reject(new Error('no route to host')) });
  const nodes = [
    { name: 'gpu1', node: head.node },
    { name: 'gpu2', node: second.node },
    { name: 'gpu3', node: dead },
  ];
  const run = { nodes: ['gpu1', 'gpu2', 'gpu3', 'gpu4'].map((host) => ({ host })) } as RunEntry['run'];
  const machine = { node: head.node, nodes } as unknown as Machine;
  const deletion = await deleteRunFolders(machine, localProfile, { id: 'r', dir: nodePath('/w/r'), run });
  expect(head.agent.requests.map(({ method, params }) => [method, params])).toEqual([
    ['run.delete', { dir: '/w/r' }],
  ]);
  const params = { workdir: '~/.trainyard', id: 'r', host: 'gpu2' };
  expect(second.agent.requests).toMatchObject([{ method: 'run.forget', params }]);
  expect(deletion.unreached.map(({ host }) => host)).toEqual(['gpu3', 'gpu4']);
  const notes = deletionNotes(nodePath('/w/r'), deletion, errorText).join('\n');
  expect(notes).toContain("2 entries that are not the run's stay in /w/r: notes.txt, gpu2: mine");
  expect(notes).toMatch(/gpu3 was not reached, .*~\/\.trainyard\/runs\/r.*no route to host/);
  for (const { node: one } of nodes) one.dispose();
});

it('a run under way: the remedy is to stop it, by its id', async () => {
  const message = 'a run in /w/r is under way on gpu1. Attach to it, or stop it first';
  const head = node(() => ({ error: { code: 2, message } }));
  const machine = { node: head.node, nodes: [] } as unknown as Machine;
  const deleted = deleteRunFolders(machine, localProfile, { id: 'r', dir: nodePath('/w/r'), run: null });
  await expect(deleted).rejects.toMatchObject({
    code: 'preflight',
    what: 'a run in /w/r is under way on gpu1',
    hint: { kind: 'stopRun', run: 'r' },
  });
  head.node.dispose();
});

it('touches no other node where the head refuses', async () => {
  const head = node(() => ({ error: { code: 2, message: 'a run in /w/r is under way on gpu9' } }));
  const second = node(() => ({ result: remains() }));
  const nodes = [{ name: 'gpu2', node: second.node }];
  const run = { nodes: [{ host: 'gpu1' }, { host: 'gpu2' }] } as RunEntry['run'];
  const machine = { node: head.node, nodes } as unknown as Machine;
  await expect(
    deleteRunFolders(machine, localProfile, { id: 'r', dir: nodePath('/w/r'), run }),
  ).rejects.toThrow('on gpu9');
  expect(second.agent.requests).toEqual([]);
  head.node.dispose();
  second.node.dispose();
});

import { expect, it } from 'vitest';
import { errorText } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { localProfile } from '../../../../src/core/contracts/profileSchema.js';
import { deleteRunFolders, deletionNotes, ownFilesOf } from '../../../../src/core/follow/deletion.js';
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

const entry = { id: 'r', dir: '/w/r', run: null, state: null, interrupted: false, files: {}, stamps: {} };

it('asks its mirror and its former heads too, and names those that the profile lacks', async () => {
  const journal = [
    { time: 1, generation: 2, kind: 'head_changed', from: 'gpu1', to: 'gpu2' },
    { time: 2, generation: 3, kind: 'head_changed', from: 'gpu2', to: 'gpu4' },
    { time: 3, generation: 4, kind: 'head_changed', from: 'gpu4', to: 'gpu2' },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const head = node(({ method, params }) => {
    if (method === 'run.delete') return { result: remains() };
    if (method === 'run.get') return { result: { ...entry, files: { 'events.jsonl': journal.length } } };
    const data = Buffer.from(journal).toString('base64');
    return params['path'] === '/w/r/events.jsonl'
      ? { result: { offset: 0, size: journal.length, inode: 1, data } }
      : {};
  });
  const [first, second, mirror] = [1, 2, 3].map(() => node(() => ({ result: remains() })));
  const nodes = [
    { name: 'gpu1', node: first!.node },
    { name: 'gpu2', node: head.node },
    { name: 'gpu3', node: second!.node },
    { name: 'gpu5', node: mirror!.node },
  ];
  const run = { nodes: [{ host: 'gpu2' }, { host: 'gpu3' }], mirror: 'gpu5' } as RunEntry['run'];
  const machine = { node: head.node, nodes } as unknown as Machine;
  const deletion = await deleteRunFolders(machine, localProfile, { id: 'r', dir: nodePath('/w/r'), run });
  for (const [at, one] of [first, second, mirror].entries()) {
    const params = { id: 'r', host: ['gpu1', 'gpu3', 'gpu5'][at], former: true };
    expect(one?.agent.requests).toMatchObject([{ method: 'run.forget', params }]);
  }
  expect(deletion.unreached.map(({ host }) => host)).toEqual(['gpu4']);
  for (const { node: one } of nodes) one.dispose();
});

it('asks every other node of the run too, and names those that were not reached and what stays', async () => {
  const head = node(({ method }) => ({ result: method === 'run.get' ? entry : remains('notes.txt') }));
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
    ['run.get', { dir: '/w/r' }],
    ['run.delete', { dir: '/w/r' }],
  ]);
  const params = { workdir: '~/.trainyard', id: 'r', host: 'gpu2' };
  expect(second.agent.requests).toMatchObject([{ method: 'run.forget', params }]);
  expect(deletion.unreached.map(({ host }) => host)).toEqual(['gpu3', 'gpu4']);
  const notes = deletionNotes(nodePath('/w/r'), deletion, errorText).join('\n');
  expect(notes).toContain('2 entries that Trainyard did not write stay in /w/r: notes.txt, gpu2: mine');
  expect(notes).toMatch(/gpu3 was not reached, .*~\/\.trainyard\/runs\/r.*no route to host/);
  for (const { node: one } of nodes) one.dispose();
});

it('removes what the program wrote where that is asked for, and says before what would stay', async () => {
  const head = node(({ method }) => ({ result: method === 'run.get' ? entry : remains('mine.pt') }));
  const second = node(() => ({ result: remains() }));
  const nodes = [
    { name: 'gpu1', node: head.node },
    { name: 'gpu2', node: second.node },
  ];
  const run = { nodes: ['gpu1', 'gpu2'].map((host) => ({ host })) } as RunEntry['run'];
  const machine = { node: head.node, nodes } as unknown as Machine;
  const dir = nodePath('/w/r');
  expect(await ownFilesOf(machine, dir)).toEqual({ names: 'mine.pt', mayGo: false });
  await deleteRunFolders(machine, localProfile, { id: 'r', dir, run }, true);
  expect(head.agent.requests.map(({ method, params }) => [method, params])).toEqual([
    ['run.delete', { dir: '/w/r', look: true }],
    ['run.get', { dir: '/w/r' }],
    ['run.delete', { dir: '/w/r', everything: true }],
  ]);
  expect(second.agent.requests).toMatchObject([{ method: 'run.forget', params: { everything: true } }]);
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
  const refused = { error: { code: 2, message: 'a run in /w/r is under way on gpu9' } };
  const head = node(({ method }) => (method === 'run.get' ? { result: entry } : refused));
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

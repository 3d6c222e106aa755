// The tools of language models in the editor: what is asked before, and what an answer is.
import { expect, it, vi } from 'vitest';
import { invokeTool, prepareTool } from '../../../src/ui/assist/toolCalls.js';
import type { Services } from '../../../src/ui/services.js';

vi.mock('vscode', () => ({
  MarkdownString: class {
    value = '';
    appendCodeblock(text: string): this {
      this.value += text;
      return this;
    }
  },
  LanguageModelTextPart: class {
    constructor(readonly value: string) {}
  },
  LanguageModelToolResult: class {
    constructor(readonly content: unknown[]) {}
  },
  workspace: { workspaceFolders: undefined },
}));

const local = { name: 'local', kind: 'local' };
const started: unknown[] = [];
const stopped: unknown[] = [];
const noted: (string | undefined)[][] = [];
const entry = { id: '20260101-000000-a-1111', dir: '/r', state: { phase: 'running' }, run: null };
const machine = {
  start: (request: unknown) => {
    started.push(request);
    return Promise.resolve({ id: 'new', dir: '/new' });
  },
  stop: (...given: unknown[]) => {
    stopped.push(given);
    return Promise.resolve();
  },
  registry: () => Promise.resolve({ resolve: () => Promise.resolve(entry) }),
};
const backend = {
  profiles: () => ({
    contents: () => Promise.resolve({ profiles: [local], broken: [] }),
    get: () => Promise.resolve(local),
  }),
  machine: () => Promise.resolve(machine),
  note: (...given: (string | undefined)[]) => {
    noted.push(given);
    return Promise.resolve();
  },
  monitor: { all: [], refresh: () => Promise.resolve() },
};
const services = { backend: () => Promise.resolve(backend) } as unknown as Services;
const token = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose: () => undefined }),
};

it('asks before a start with the whole command, and starts nothing until then', async () => {
  const input = { profile: 'local', command: ['sh', '-c', 'rm -rf x\u202e'] };
  const { confirmationMessages } = await prepareTool(services, 'trainyard_start_run', input);
  expect(confirmationMessages).toMatchObject({
    title: 'Start Run',
    message: { value: 'Start on profile local: sh -c "rm -rf x\\u202e"' },
  });
  expect(started).toEqual([]);
  const result = await invokeTool(services, 'trainyard_start_run', input, token);
  expect(result.content).toEqual([{ value: '{"id":"new","dir":"/new","profile":"local"}' }]);
  expect(started).toHaveLength(1);
  expect(noted).toEqual([['new', 'local', undefined]]);
});

it('asks before a stop, by the whole id', async () => {
  const { confirmationMessages } = await prepareTool(services, 'trainyard_stop_run', { run: entry.id });
  expect(confirmationMessages?.title).toBe('Stop Run');
  await expect(prepareTool(services, 'trainyard_stop_run', { run: 'last' })).rejects.toThrow(/whole id/);
  await invokeTool(services, 'trainyard_stop_run', { run: entry.id }, token);
  expect(stopped).toEqual([['/r', 'checkpoint']]);
});

it('asks nothing where nothing changes, and says what is wrong', async () => {
  const prepared = await prepareTool(services, 'trainyard_list_profiles', {});
  expect(prepared.confirmationMessages).toBeUndefined();
  const { content } = await invokeTool(services, 'trainyard_list_profiles', {}, token);
  expect(content).toMatchObject([
    { value: '{"profiles":[{"name":"local","kind":"local","hosts":[]}],"broken":[]}' },
  ]);
  await expect(invokeTool(services, 'trainyard_read_log', { run: 1 }, token)).rejects.toThrow(/run/);
});

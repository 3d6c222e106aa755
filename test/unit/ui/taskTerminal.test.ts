// A task whose GPUs are held: it offers to wait for them as other starts do, unless it says itself
// what is wanted.
import { beforeEach, expect, it, vi } from 'vitest';
import { Cancelled, UserError } from '../../../src/core/base/errors.js';
import type { RunRequest } from '../../../src/core/plan/request/request.js';
import { TaskTerminal } from '../../../src/ui/tasks/taskTerminal.js';

const editor = vi.hoisted(() => ({
  /** The title of the button that the user presses; `never`: none, and the notification stays. */
  answer: undefined as string | undefined,
  shown: [] as string[][],
}));

vi.mock('vscode', () => ({
  EventEmitter: class<T> {
    readonly listeners: ((value: T) => void)[] = [];
    readonly event = (listener: (value: T) => void): void => void this.listeners.push(listener);
    fire(value: T): void {
      for (const listener of this.listeners) listener(value);
    }
  },
  workspace: {},
  window: {
    showErrorMessage: (...words: string[]) => {
      editor.shown.push(words);
      if (editor.answer === 'never') return new Promise(() => undefined);
      return Promise.resolve(words.slice(1).find((title) => title === editor.answer));
    },
  },
}));

const held = new UserError('preflight', 'no GPU of lab is free', {
  kind: 'waitForGpus',
  or: { kind: 'otherGpus', profile: 'lab' },
});
const requests: RunRequest[] = [];
const machine = {
  start: (request: RunRequest) => {
    requests.push(request);
    return Promise.reject(request.wait ? new Cancelled() : held);
  },
};
const ui = {
  services: {
    logger: { log: () => undefined },
    backend: () =>
      Promise.resolve({
        session: () =>
          Promise.resolve({
            profile: { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }] },
            machine: () => Promise.resolve(machine),
          }),
        note: () => Promise.resolve(),
      }),
  },
} as unknown as ConstructorParameters<typeof TaskTerminal>[0];

let text = '';
/** Opens the terminal, lets `meanwhile` happen, and resolves with the exit code. */
async function run(fields: object, meanwhile?: (terminal: TaskTerminal) => void): Promise<number> {
  const task = { type: 'trainyard', profile: 'lab', command: 'python3 train.py', gpus: 2, ...fields };
  const terminal = new TaskTerminal(ui, task, '/w');
  terminal.onDidWrite((part) => (text += part));
  const code = new Promise<number>((resolve) => terminal.onDidClose(resolve));
  terminal.open();
  await vi.waitFor(() => {
    expect(text).toContain('no GPU of lab is free');
  });
  meanwhile?.(terminal);
  return code;
}
const waits = (): boolean[] => requests.map(({ wait }) => wait);

beforeEach(() => {
  requests.length = 0;
  editor.shown.length = 0;
  editor.answer = undefined;
  text = '';
});

it('queues where the user wants that', async () => {
  editor.answer = 'Wait for GPUs';
  expect(await run({})).toBe(75); // the stand-in for the queue is left at once
  expect(waits()).toEqual([false, true]);
  expect(requests.map(({ gpus }) => gpus?.count)).toEqual([2, 2]);
});

it('ends with 4 where the user does not, and has said so once', async () => {
  expect(await run({})).toBe(4);
  expect(waits()).toEqual([false]);
  expect(editor.shown).toHaveLength(1);
  expect(text.match(/no GPU of lab is free/g)).toHaveLength(1);
});

it('does not outlast Ctrl-C while it asks', async () => {
  editor.answer = 'never';
  expect(
    await run({}, (terminal) => {
      terminal.handleInput('\x03');
    }),
  ).toBe(75);
  expect(waits()).toEqual([false]);
});

it('asks nothing where the task says that it is to be refused', async () => {
  editor.answer = 'Wait for GPUs';
  expect(await run({ wait: false })).toBe(4);
  expect(waits()).toEqual([false]);
});

// A start in the editor whose GPUs are held: it offers to wait, and then queues for them.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { isCancelled, UserError } from '../../../../src/core/base/errors.js';
import type { Progress } from '../../../../src/core/base/progress.js';
import type { RunRequest } from '../../../../src/core/plan/request/request.js';
import { startRun } from '../../../../src/ui/commands/start/startRun.js';

const editor = vi.hoisted(() => ({
  /** The title of the button that the user presses. */
  answer: undefined as string | undefined,
  shown: [] as string[][],
  /** What progress notifications said. */
  reported: [] as string[],
  titles: [] as string[],
  /** Whether the next notification is cancelled as soon as it says something. */
  cancels: false,
}));

vi.mock('vscode', () => ({
  ProgressLocation: { Notification: 15 },
  workspace: {},
  window: {
    showErrorMessage: (...words: string[]) => {
      editor.shown.push(words);
      return Promise.resolve(words.slice(1).find((title) => title === editor.answer));
    },
    withProgress: (
      options: { title: string; cancellable: boolean },
      act: (report: object, token: object) => Promise<unknown>,
    ) => {
      editor.titles.push(`${options.title}, ${options.cancellable ? 'cancellable' : 'not cancellable'}`);
      let cancel = (): void => undefined;
      const report = ({ message }: { message: string }): void => {
        editor.reported.push(message);
        if (editor.cancels && message.startsWith('waiting')) cancel();
      };
      const onCancellationRequested = (listener: () => void): object => {
        cancel = listener;
        return { dispose: () => undefined };
      };
      return act({ report }, { onCancellationRequested });
    },
  },
}));

const held = new UserError('preflight', 'not all of the GPUs 0 of here are free', {
  kind: 'waitForGpus',
  or: { kind: 'otherGpus', profile: 'local' },
});
const place = 'waiting for GPU 0 on here: 1st in the queue; held by run r';
const requests: RunRequest[] = [];
const remembered: unknown[] = [];
const logged: string[] = [];
let failure: Error = held;

const machine = {
  start: (request: RunRequest, { onProgress, signal }: Progress) => {
    requests.push(request);
    if (!request.wait) return Promise.reject(failure);
    onProgress?.(place);
    signal?.throwIfAborted();
    return Promise.resolve({ id: 'r1', dir: '/runs/r1', before: undefined, device: undefined });
  },
};
const ui = {
  services: {
    setting: () => false,
    logger: { log: (_level: string, text: string) => logged.push(text) },
    backend: () =>
      Promise.resolve({
        session: () =>
          Promise.resolve({
            profile: { name: 'local', kind: 'local' },
            machine: () => Promise.resolve(machine),
          }),
        note: () => Promise.resolve(),
        monitor: { refresh: () => Promise.resolve() },
      }),
    context: {
      workspaceState: { get: () => ({}), update: () => Promise.resolve() },
      globalState: {
        get: () => [],
        update: (_key: string, value: unknown) => {
          remembered.push(Array.isArray(value) ? value[0] : value);
          return Promise.resolve();
        },
      },
    },
  },
  keys: { update: () => undefined },
  checkpoints: { choose: () => Promise.resolve() },
  showOutput: () => undefined,
} as unknown as Parameters<typeof startRun>[0];

const recent = { profile: 'local', words: ['python3', 'train.py'], gpus: '0,', name: 'mine' };

beforeEach(() => {
  for (const list of [editor.shown, editor.reported, editor.titles, requests, remembered, logged]) {
    list.length = 0;
  }
  editor.answer = undefined;
  editor.cancels = false;
  failure = held;
});

describe('a start whose GPUs are held', () => {
  it('waits for them where the user wants that, and tells its place', async () => {
    editor.answer = 'Wait for GPUs';
    expect(await startRun(ui, recent)).toMatchObject({ id: 'r1' });
    expect(editor.shown).toEqual([
      [
        expect.stringMatching(/^not all of the GPUs 0 of here are free\. Wait/),
        'Wait for GPUs',
        'Show Output',
      ],
    ]);
    expect(requests.map(({ wait, gpus, label }) => [wait, gpus?.text, label])).toEqual([
      [false, '0,', 'mine'],
      [true, '0,', 'mine'],
    ]);
    expect(editor.titles).toEqual(['Run on local, cancellable', 'Run on local, cancellable']);
    expect(editor.reported).toContain(place);
    expect(remembered).toEqual([recent, recent.profile]); // Run Again does not wait
    expect(logged).toHaveLength(1);
  });

  it('is cancelled from its notification', async () => {
    editor.answer = 'Wait for GPUs';
    editor.cancels = true;
    expect(await startRun(ui, recent).catch(isCancelled)).toBe(true);
    expect(remembered).toEqual([]);
  });

  it('is told once where the user does not wait', async () => {
    expect(await startRun(ui, recent).catch(isCancelled)).toBe(true);
    expect(editor.shown).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  it('offers no wait where that does not help', async () => {
    failure = new UserError('preflight', 'no', { kind: 'otherGpus', profile: 'local' });
    await expect(startRun(ui, recent)).rejects.toBe(failure);
    expect(editor.shown).toEqual([]);
  });
});

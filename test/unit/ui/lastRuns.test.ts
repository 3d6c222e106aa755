// What the views remember of runs: from looks of the monitor into the editor's memory, and back.
import { beforeEach, describe, expect, it } from 'vitest';
import { Emitter } from '../../../src/core/base/lifecycle.js';
import type { ProfileRuns } from '../../../src/core/follow/runsMonitor.js';
import type { Backend } from '../../../src/ui/backend.js';
import { LastRuns } from '../../../src/ui/lastRuns.js';
import { listedRun } from '../support/listedRun.js';

/** The editor's memory, as every window has it. */
class Memory {
  values = new Map<string, unknown>();
  writes = 0;
  keys = (): string[] => [...this.values.keys()];
  get = (key: string): never => this.values.get(key) as never;
  update = (key: string, value: unknown): Promise<void> => {
    this.writes++;
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, JSON.parse(JSON.stringify(value)));
    return Promise.resolve();
  };
}

/** A window: what it has connected, and the looks of its monitor. */
class Window {
  readonly looks = new Emitter<readonly ProfileRuns[]>();
  connected = new Set<string>();
  named: string[] | undefined = ['lab', 'local'];
  current: readonly ProfileRuns[] = [];
  readonly runs: LastRuns;
  private load: ((backend: Backend) => void) | undefined;

  constructor(memory: Memory) {
    this.runs = new LastRuns(memory as never, (use) => {
      this.load = use;
      return { dispose: () => undefined };
    });
  }

  async look(...groups: ProfileRuns[]): Promise<void> {
    if (this.current.length === 0) this.load?.(this.backend());
    this.current = groups;
    this.looks.fire(groups);
    await new Promise((resolve) => setImmediate(resolve));
  }

  private backend(): Backend {
    const monitor = Object.defineProperty({ onChange: this.looks.event }, 'current', {
      get: () => this.current,
    });
    const clusters = {
      onChange: () => ({ dispose: () => undefined }),
      find: (name: string) => ({ state: { kind: this.connected.has(name) ? 'connected' : 'disconnected' } }),
      knows: (name: string) => this.named?.includes(name),
    };
    return { monitor, clusters } as unknown as Backend;
  }
}

const look = (
  profile: string,
  seen: number | undefined,
  ...runs: Parameters<typeof listedRun>[]
): ProfileRuns => ({
  profile,
  runs: runs.map((run) => listedRun(...run)),
  problem: undefined,
  seen,
});
const words = ({ runs }: Window): string[] =>
  runs.shown.map(({ profile, runs: now, last }) => {
    const then = last?.runs.map(({ id, status }) => `${id} was ${status}`) ?? [];
    return [profile, ...now.map(({ entry, status }) => `${entry.id} ${status}`), ...then].join(', ');
  });

let memory: Memory;
let first: Window;
beforeEach(async () => {
  memory = new Memory();
  first = new Window(memory);
  first.connected.add('lab');
  await first.look(look('local', undefined), look('lab', 1000, ['2-b', 'running'], ['1-a', 'finished']));
});

describe('a new window', () => {
  it('shows what was seen last, until the profile is connected and looked at', async () => {
    expect(words(first)).toEqual(['local', 'lab, 2-b running, 1-a finished']);
    const second = new Window(memory);
    expect(words(second)).toEqual(['lab, 2-b was running, 1-a was finished']);
    expect(second.runs.active).toMatchObject([{ profile: 'lab', run: { id: '2-b' }, last: { at: 1000 } }]);

    await second.look(look('local', undefined), look('lab', undefined));
    expect(words(second)).toEqual(['local', 'lab, 2-b was running, 1-a was finished']);
    second.connected.add('lab');
    expect(words(second)[1]).toBe('lab, 2-b was running, 1-a was finished'); // not looked at yet
    await second.look(look('local', undefined), look('lab', 2000, ['2-b', 'finished']));
    expect(words(second)).toEqual(['local', 'lab, 2-b finished']);
    expect(second.runs.active).toEqual([]);
    expect(words(new Window(memory))).toEqual(['lab, 2-b was finished']);
  });

  it('does not lose what is remembered by a look that found nothing to look at', async () => {
    const second = new Window(memory);
    await second.look({ profile: '', runs: [], problem: new Error('profiles.json') });
    expect(words(second)).toEqual(['', 'lab, 2-b was running, 1-a was finished']);
    await second.look(look('local', undefined), look('lab', undefined));
    expect(words(new Window(memory))).toEqual(['lab, 2-b was running, 1-a was finished']);
  });
});

it('runs of a profile that was disconnected are as they were', () => {
  first.connected.delete('lab');
  expect(words(first)).toEqual(['local', 'lab, 2-b was running, 1-a was finished']);
});

it('forgets a profile that was removed, and no other', async () => {
  first.named = undefined; // the file cannot be read
  await first.look(look('lab', 1001, ['2-b', 'running']));
  expect(memory.keys()).toEqual(['trainyard.lastSeen.lab']);
  first.named = ['local'];
  await first.look(look('local', 1002, ['3-c', 'finished']));
  expect(memory.keys()).toEqual(['trainyard.lastSeen.local']);
});

it('keeps at most 32 profiles: those seen last', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `p${String(at)}`);
  first.named = names;
  await first.look(...names.map((name, at) => look(name, 2000 + at, ['1-a', 'finished'])));
  expect(memory.keys()).toHaveLength(32);
  expect(memory.keys()).toContain('trainyard.lastSeen.p39');
  expect(memory.keys()).not.toContain('trainyard.lastSeen.p7');
});

it('writes a changed status at once, figures alone every 30 s, and nothing older than what is there', async () => {
  const { writes } = memory;
  await first.look(look('lab', 1002, ['2-b', 'running', { fraction: 0.2 }], ['1-a', 'finished']));
  expect(memory.writes).toBe(writes);
  await first.look(look('lab', 1004, ['2-b', 'stopping'], ['1-a', 'finished']));
  expect(memory.writes).toBe(writes + 1);
  await first.look(look('lab', 1035, ['2-b', 'stopping', { fraction: 0.3 }], ['1-a', 'finished']));
  expect(memory.writes).toBe(writes + 2);
  await first.look(look('lab', 1030, ['2-b', 'running'], ['1-a', 'finished'])); // another window saw more
  expect(memory.writes).toBe(writes + 2);
});

it('a damaged value is ignored', () => {
  memory.values.set('trainyard.lastSeen.lab', { version: 1, at: 5, runs: [{ id: '' }] });
  expect(words(new Window(memory))).toEqual(['lab']);
});

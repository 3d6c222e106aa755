// Looks at several profiles, one of which answers late or never.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ClusterSession } from '../../../../src/core/follow/clusterSession.js';
import { RunsMonitor } from '../../../../src/core/follow/runsMonitor.js';

/** A profile without runs, which answers when the test says so, or at once. */
class Profile {
  kind = 'connected';
  looks = 0;
  connects = 0;
  waiting: (() => void)[] = [];

  constructor(
    readonly name: string,
    public answers: boolean,
  ) {}

  get state(): object {
    return { kind: this.kind };
  }

  get profile(): object {
    return { name: this.name };
  }

  machine(): Promise<object> {
    this.connects++;
    const registry = { list: () => this.list() };
    const node = { client: () => Promise.resolve({}) };
    return Promise.resolve({ node, registry: () => Promise.resolve(registry) });
  }

  answer(): void {
    for (const wake of this.waiting.splice(0)) wake();
  }

  private list(): Promise<unknown[]> {
    this.looks++;
    if (this.answers) return Promise.resolve([]);
    return new Promise((resolve) => {
      this.waiting.push(() => {
        resolve([]);
      });
    });
  }
}

const interval = 2000;
let quick: Profile;
let slow: Profile;
let profiles: Profile[];
let monitor: RunsMonitor;
beforeEach(() => {
  vi.useFakeTimers();
  quick = new Profile('quick', true);
  slow = new Profile('slow', false);
  profiles = [slow, quick];
  monitor = new RunsMonitor(
    () => Promise.resolve(profiles as unknown as ClusterSession[]),
    () => interval,
  );
});
afterEach(() => {
  monitor.dispose();
  vi.useRealTimers();
});

/** The names of those that were looked at. */
const seen = (): string[] =>
  monitor.current.filter((each) => each.seen !== undefined).map(({ profile }) => profile);

it('shows each profile as soon as it has answered', async () => {
  const shown: string[] = [];
  monitor.onChange((lists) => shown.push(...lists.map(({ profile }) => profile)));
  void monitor.refresh();
  await vi.advanceTimersByTimeAsync(0);
  expect(shown).toEqual(['quick']);
  expect(seen()).toEqual(['quick']);
  expect(monitor.current.map(({ profile }) => profile)).toEqual(['slow', 'quick']);
  slow.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(shown).toEqual(['quick', 'slow']);
  expect(seen()).toEqual(['slow', 'quick']);
});

it('looks on at the others while one does not answer, and at that one not twice at a time', async () => {
  const watching = monitor.watch();
  await vi.advanceTimersByTimeAsync(10.5 * interval);
  expect(quick.looks).toBeGreaterThanOrEqual(10);
  expect(slow.looks).toBe(1);
  slow.answer();
  await vi.advanceTimersByTimeAsync(1.5 * interval);
  expect(slow.looks).toBe(2);
  watching.dispose();
});

it('waits only for the profile that is named, and no longer than a while', async () => {
  void monitor.refresh();
  await monitor.refresh('quick');
  expect(seen()).toEqual(['quick']);
  let done = false;
  const named = monitor.refresh('slow').then(() => {
    done = true;
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(done).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  await named;
  slow.answers = true;
  slow.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen()).toEqual(['slow', 'quick']);
});

it('waits a while, and no longer, for a slow one where none is named', async () => {
  const all = monitor.refresh();
  await vi.advanceTimersByTimeAsync(10_000);
  await all;
  expect(seen()).toEqual(['quick']);
});

it('looks once more for all who asked during a look', async () => {
  const first = monitor.refresh('slow');
  await vi.advanceTimersByTimeAsync(0);
  const asked = [first, monitor.refresh('slow'), monitor.refresh('slow')];
  await vi.advanceTimersByTimeAsync(0);
  expect(slow.looks).toBe(1);
  slow.answers = true;
  slow.answer();
  await Promise.all(asked);
  expect(slow.looks).toBe(2);
});

it('connects no profile that was disconnected while a call waited', async () => {
  void monitor.refresh('slow');
  await vi.advanceTimersByTimeAsync(0);
  const again = monitor.refresh('slow');
  await vi.advanceTimersByTimeAsync(0);
  slow.kind = 'disconnected';
  slow.answer();
  await again;
  expect(slow.connects).toBe(1);
});

it('forgets a profile that was removed while it was looked at', async () => {
  void monitor.refresh();
  await vi.advanceTimersByTimeAsync(0);
  profiles = [quick];
  await monitor.refresh('quick');
  slow.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(monitor.current.map(({ profile }) => profile)).toEqual(['quick']);
});

it('tells of profiles that are not connected, and of a list that cannot be read', async () => {
  slow.kind = 'disconnected';
  await monitor.refresh();
  expect(monitor.current.map(({ profile, seen: when }) => [profile, when !== undefined])).toEqual([
    ['slow', false],
    ['quick', true],
  ]);
  const broken = new Error('profiles.json:1: wrong');
  const other = new RunsMonitor(
    () => Promise.reject(broken),
    () => interval,
  );
  await other.refresh();
  expect(other.current).toEqual([{ profile: '', runs: [], problem: broken }]);
  other.dispose();
});

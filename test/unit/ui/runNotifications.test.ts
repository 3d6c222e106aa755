// What a notification on a run says, and how loud.
import { beforeEach, expect, it, vi } from 'vitest';
import { Emitter } from '../../../src/core/base/lifecycle.js';
import type { RunOverview } from '../../../src/core/follow/overview.js';
import type { RunChange, RunChangeKind } from '../../../src/core/follow/runChanges.js';
import type { Health } from '../../../src/core/model/runHealth.js';
import type { RunStatus } from '../../../src/core/model/runStatus.js';
import type { Ui } from '../../../src/ui/commands/ui.js';
import { RunNotifications } from '../../../src/ui/runNotifications.js';
import { bakeOffName, scalingName } from '../../../src/core/model/measured.js';
import { listedRun } from '../support/listedRun.js';

const shown = vi.hoisted(() => [] as string[]);
vi.mock('vscode', () => {
  const show =
    (kind: string) =>
    (text: string): Promise<undefined> => {
      shown.push(`${kind}: ${text}`);
      return Promise.resolve(undefined);
    };
  return {
    commands: { executeCommand: vi.fn() },
    window: {
      showErrorMessage: show('error'),
      showWarningMessage: show('warning'),
      showInformationMessage: show('info'),
    },
  };
});

const muted = new Set<string>();
const changes = new Emitter<RunChange>();
const services = {
  onBackend: (use: (backend: unknown) => void) => {
    use({ changes: { onChange: changes.event } });
    return { dispose: () => undefined };
  },
  setting: (name: string) => !muted.has(name),
};
new RunNotifications({ services, dashboards: { open: [] } } as unknown as Ui);

function say(kind: RunChangeKind, status: RunStatus, health: Partial<Health>, why?: string): void {
  const run: RunOverview = listedRun('20261125-100000-mlp-1f2e', status, {
    health: { level: 'good', kind: 'over', text: status, ...health },
    best: { step: 80, top1: 0.952 },
  });
  changes.fire({ kind, profile: 'lab', run, why });
}

beforeEach(() => {
  shown.length = 0;
  muted.clear();
});

it('says restarts and bad images of a run that finished, as a warning where it has these', () => {
  say('finished', 'finished', {});
  say('finished', 'finished', { text: 'finished, 1 restart' });
  const text = 'finished, 1 restart, 16 of 36 images could not be read';
  say('finished', 'finished', { level: 'warning', kind: 'bad-images', text });
  say('stopped', 'stopped', { level: 'warning', kind: 'bad-images', text: 'stopped, 2 images …' });
  expect(shown).toEqual([
    'info: mlp-1f2e on lab finished, best top-1 95.2%',
    'info: mlp-1f2e on lab finished, 1 restart, best top-1 95.2%',
    'warning: mlp-1f2e on lab finished, 1 restart, 16 of 36 images could not be read, best top-1 95.2%',
    'warning: mlp-1f2e on lab stopped, 2 images …',
  ]);
});

it('says how long all starts of a run took', () => {
  const run = listedRun('20261125-100000-mlp-1f2e', 'finished', {
    health: { level: 'good', kind: 'over', text: 'finished' },
  });
  const state = { started: 1000, ended: 1060, updated: 1060, generation: 2 };
  const earlier = [{ from: 100, to: 340 }];
  const entry = { ...run.entry, run: { limits: {}, earlier }, state } as RunOverview['entry'];
  changes.fire({ kind: 'finished', profile: 'lab', run: { ...run, entry }, why: undefined });
  expect(shown).toEqual(['info: mlp-1f2e on lab finished after 5 min']);
});

it('says which restart of how many comes, or came', () => {
  const run = listedRun('20261125-100000-mlp-1f2e', 'running');
  const limits = { maxRestarts: 3 };
  const resumed = { started: 9, ended: null, updated: 20 };
  const say = (kind: RunChangeKind, generation: number, earlier?: object[]): void => {
    const state = { ...resumed, generation };
    const entry = { ...run.entry, run: { limits, earlier }, state } as RunOverview['entry'];
    changes.fire({ kind, profile: 'lab', run: { ...run, entry }, why: 'rank 1 was killed' });
  };
  say('restarting', 2);
  say('restarted', 3);
  say('restarting', 3, [{ from: 1, to: 5, generation: 2 }]); // the supervisor began 2, somebody 3
  expect(shown).toEqual([
    'warning: mlp-1f2e on lab is started again (restart 2 of 3): rank 1 was killed',
    'warning: mlp-1f2e on lab was started again (restart 2 of 3): rank 1 was killed',
    'warning: mlp-1f2e on lab is started again (restart 1 of 3): rank 1 was killed',
  ]);
});

it('says bad images of a run under way, unless that is muted', () => {
  const text = '16 of 36 images could not be read';
  say('bad-images', 'running', { level: 'warning', kind: 'bad-images', text }, text);
  muted.add('trainyard.notifications.badImages');
  say('bad-images', 'running', { level: 'warning', kind: 'bad-images', text }, text);
  say('failed', 'failed', { level: 'error' }, 'out of memory');
  expect(shown).toEqual([
    `warning: mlp-1f2e on lab: ${text}`,
    'error: mlp-1f2e on lab failed: out of memory',
  ]);
});

it('says once that a run stopped, where the reason begins with that word', () => {
  const run = listedRun('20261125-100000-mlp-1f2e', 'stopped', {
    health: { level: 'good', kind: 'over', text: 'stopped' },
  });
  const stop = (why: string): void => {
    changes.fire({ kind: 'stopped', profile: 'lab', run, why });
  };
  stop('stopped at once by ann@desk, without saving its last steps');
  stop('its time limit of 2 h is over');
  expect(shown).toEqual([
    'info: mlp-1f2e on lab stopped at once by ann@desk, without saving its last steps',
    'info: mlp-1f2e on lab stopped: its time limit of 2 h is over',
  ]);
});

it('leaves it to a sweep to name its best trial, and says which one failed', () => {
  for (const kind of ['finished', 'stopped', 'failed'] as const) {
    const run = listedRun('20261125-100000-mlp-1f2e', kind, {
      health: { level: 'good', kind: 'over', text: kind },
    });
    const report = { kind: 'sweep', begun: 5, trial: 2 };
    const entry = { ...run.entry, run: { limits: {}, report } } as RunOverview['entry'];
    changes.fire({ kind, profile: 'lab', run: { ...run, entry }, why: 'no memory' });
  }
  expect(shown).toEqual(['error: mlp-1f2e on lab failed: no memory']);
});

it('leaves it to a measurement to say what came of its runs', () => {
  const say = (kind: RunChangeKind, name: string, tags: string[]): void => {
    const run = listedRun('20261125-100000-mlp-1f2e', 'stopped', {
      health: { level: 'good', kind: 'over', text: 'stopped' },
    });
    const entry = { ...run.entry, about: { name, tags, notes: '' } };
    changes.fire({ kind, profile: 'lab', run: { ...run, entry }, why: undefined });
  };
  for (const kind of ['finished', 'failed', 'stopped', 'interrupted', 'restarted'] as const) {
    say(kind, 'bake-off', ['bake-off']);
    say(kind, bakeOffName('2 ranks, 1 thread'), ['bake-off']);
    say(kind, scalingName('weak', 4), ['scaling']);
    say(kind, scalingName('strong', 4, 'all-reduce'), ['scaling']);
    say(kind, scalingName('weak', 1, 'batch 128'), ['scaling']);
  }
  expect(shown).toEqual([]);
  say('node-lost', 'bake-off', ['bake-off']);
  say('stopped', 'my run', ['scaling']);
  say('stopped', 'bake-off', []);
  expect(shown).toEqual([
    'warning: bake-off on lab',
    'info: my run on lab stopped',
    'info: bake-off on lab stopped',
  ]);
});

// The item of the status bar: runs under way before a run that ended, and both before those that
// are remembered.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Emitter } from '../../../src/core/base/lifecycle.js';
import type { RunChange } from '../../../src/core/follow/runChanges.js';
import type { RunOverview } from '../../../src/core/follow/overview.js';
import { isOver } from '../../../src/core/model/runStatus.js';
import type { Ui } from '../../../src/ui/commands/ui.js';
import type { RunArgument } from '../../../src/contributions.js';
import { StatusBar } from '../../../src/ui/statusBar.js';
import { listedRun } from '../support/listedRun.js';

const item = vi.hoisted(() => ({
  text: '',
  tooltip: '',
  backgroundColor: undefined as { id: string } | undefined,
  show: vi.fn(),
  hide: vi.fn(),
  dispose: vi.fn(),
  command: { arguments: [] as unknown[] },
}));
vi.mock('vscode', () => ({
  StatusBarAlignment: { Left: 1 },
  ThemeColor: class {
    constructor(readonly id: string) {}
  },
  window: { createStatusBarItem: () => item, state: { focused: true } },
}));

/** A window of the editor, as far as the item knows it. */
class Window {
  private readonly looks = new Emitter<undefined>();
  private readonly changes = new Emitter<RunChange>();
  private readonly fronts = new Emitter<RunArgument>();
  private runs: readonly RunOverview[] = [];
  /** The run whose dashboard is the active tab. */
  front = '';
  readonly bar: StatusBar;

  constructor() {
    const shown = (): Pick<RunOverview, 'status'>[] => [...this.runs];
    const lastRuns = {
      onChange: this.looks.event,
      get shown() {
        return [{ profile: 'lab', runs: shown(), problem: undefined, last: undefined }];
      },
      get active() {
        return shown()
          .filter(({ status }) => !isOver(status as never))
          .map((run) => ({ profile: 'lab', run }));
      },
    };
    const services = {
      lastRuns,
      onBackend: (use: (backend: unknown) => void) => {
        use({ changes: { onChange: this.changes.event } });
        return { dispose: () => undefined };
      },
    };
    const open = (): object[] => [{ run: { dir: this.front }, panel: { active: true } }];
    const dashboards = {
      onFront: this.fronts.event,
      get open() {
        return open();
      },
    };
    this.bar = new StatusBar({ services, dashboards } as unknown as Ui);
  }

  /** A look at the runs, of which these have just ended. */
  look(runs: readonly RunOverview[], ...ended: RunOverview[]): void {
    this.runs = runs;
    this.looks.fire(undefined);
    for (const run of ended) {
      const kind = run.status as RunChange['kind'];
      this.changes.fire({ kind, profile: 'lab', run, why: undefined });
    }
  }

  open({ entry: { id, dir } }: RunOverview): void {
    this.front = dir;
    this.fronts.fire({ profile: 'lab', id, dir });
  }
}

const idOf = (name: string): string => `20261125-100000-${name}`;
const at = (run: RunOverview, started: number, ended: number | null): RunOverview => {
  const state = { started, ended } as RunOverview['entry']['state'];
  return { ...run, entry: { ...run.entry, state } };
};
const running = (name: string, started: number): RunOverview =>
  at(listedRun(idOf(name), 'running'), started, null);
const failure = { level: 'error', kind: 'over', text: 'failed: rank 1 on gpu2 was killed' } as const;
const failed = at(listedRun(idOf('b-2'), 'failed', { health: failure }), 100, 200);
const finished = at(listedRun(idOf('e-5'), 'finished'), 100, 200);

describe('the status bar', () => {
  let window: Window;
  beforeEach(() => {
    Object.assign(item, { text: '', tooltip: '', backgroundColor: undefined });
    window = new Window();
  });

  it('has no item for runs that were over before', () => {
    window.look([failed]);
    expect(window.bar.text).toBeUndefined();
    expect(item.hide).toHaveBeenCalled();
  });

  it('says in red that a run failed, and why, until its dashboard is in front', () => {
    window.look([failed], failed);
    expect(item.text).toBe('$(error) b-2 failed');
    expect(item.backgroundColor?.id).toBe('statusBarItem.errorBackground');
    expect(item.tooltip).toBe('b-2 on lab: failed: rank 1 on gpu2 was killed. Open its dashboard');
    window.open(failed);
    expect(window.bar.text).toBeUndefined();
  });

  it('says nothing of an end that the user saw', () => {
    window.front = failed.entry.dir;
    window.look([failed], failed);
    expect(window.bar.text).toBeUndefined();
  });

  it('has a failure before runs that were under way then, and after one that was started since', () => {
    const other = running('c-3', 150);
    window.look([other, failed], failed);
    expect(item.text).toBe('$(error) b-2 failed');
    window.look([running('d-4', 300), other, failed]);
    expect(item.text).toBe('$(rocket) 2 running');
    window.look([failed]);
    expect(item.text).toBe('$(error) b-2 failed');
    window.look([at(listedRun(idOf('b-2'), 'starting'), 400, null)]); // resumed
    expect(item.text).toBe('$(rocket) starting');
    window.look([]); // deleted
    expect(window.bar.text).toBeUndefined();
  });

  it('says of several runs how many, with a line of each, and lets one be chosen', () => {
    const text = 'gpu2 is lost, 1 of 2 nodes';
    const health = { level: 'warning', kind: 'node-lost', text } as const;
    const fast = { ...running('c-3', 150), imagesPerSec: 412, step: 34, totalSteps: 100, secondsLeft: 180 };
    const queued = at(listedRun(idOf('q-9'), 'queued'), 160, null);
    window.look([running('d-4', 300), fast]);
    expect(item.text).toBe('$(rocket) 2 running');
    expect(item.tooltip).toBe(
      'd-4 on lab: running\nc-3 on lab: 412 img/s · 34.0% · 3 min\nChoose one to open its dashboard',
    );
    expect(item.command.arguments).toEqual([{ underWay: true }]);
    window.look([queued, { ...fast, health }]);
    expect(item.text).toBe('$(warning) node lost · 1 running · 1 queued');
    expect(item.backgroundColor?.id).toBe('statusBarItem.warningBackground');
    window.look([fast]);
    expect(item.text).toBe('$(rocket) 412 img/s · 34.0% · 3 min');
    expect(item.command.arguments).toEqual([{ profile: 'lab', id: fast.entry.id, dir: fast.entry.dir }]);
  });

  it('has a run under way before one that finished', () => {
    window.look([running('c-3', 150), finished], finished);
    expect(item.text).toBe('$(rocket) running');
    window.look([finished]);
    expect(item.text).toBe('$(pass) e-5 finished');
  });

  it('is amber where a run finished with bad images, and of no colour where all is well', () => {
    const health = { level: 'warning', kind: 'bad-images', text: 'finished, 16 of 36 …' } as const;
    const bad = listedRun(idOf('d-4'), 'finished', { health });
    window.look([bad], bad);
    expect(item.text).toBe('$(warning) d-4 finished · bad images');
    expect(item.backgroundColor?.id).toBe('statusBarItem.warningBackground');
    window.look([finished, bad], finished);
    expect(item.text).toBe('$(pass) e-5 finished');
    expect(item.backgroundColor).toBeUndefined();
  });
});

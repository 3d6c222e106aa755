// Runs of a report in a list: which stand together, and what their row says.
import { describe, expect, it } from 'vitest';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
import { reportOf, scalingName, bakeOffName, type RunReport } from '../../../../src/core/model/measured.js';
import type { RunOverview } from '../../../../src/core/follow/overview.js';
import type { RunStatus } from '../../../../src/core/model/runStatus.js';
import {
  describeLastReport,
  describeReport,
  reportKey,
  withReports,
} from '../../../../src/ui/tree/reportRuns.js';
import { listedRun } from '../../support/listedRun.js';

const report: RunReport = { kind: 'scaling', begun: 1_795_000_000 };

function point(name: string, status: RunStatus, rate?: number, more: Partial<RunFile> = {}): RunOverview {
  const run = listedRun(name, status, { medianRate: rate });
  const file = { argv: ['train', '--model', 'resnet20'], report, ...more } as RunFile;
  const about = { name, tags: ['scaling'], notes: '' };
  const state = { ended: status === 'running' ? null : 1_795_000_100 } as RunOverview['entry']['state'];
  return { ...run, entry: { ...run.entry, about, run: file, state } };
}

describe('which runs stand together', () => {
  const of = (runs: RunOverview[]): string[] =>
    withReports(runs, ({ entry }) => reportOf(entry)).map((each) =>
      'run' in each
        ? each.run.entry.id
        : `${reportKey(each.report)}: ${each.runs.map(({ entry }) => entry.id).join(', ')}`,
    );

  it('is those of one report, where its newest run stood, beside runs of somebody’s own', () => {
    const other = { report: { kind: 'scaling' as const, begun: 5 } };
    expect(
      of([
        listedRun('mine', 'running'),
        point('d', 'running'),
        point('z', 'finished', 1, other),
        point('c', 'finished'),
        listedRun('old', 'finished'),
        point('b', 'finished'),
      ]),
    ).toEqual(['mine', 'scaling 1795000000: d, c, b', 'scaling 5: z', 'old']);
  });

  it('asks name and tag where the record is of an older version, and kinds apart', () => {
    const named = (id: string, name: string, tags: string[]): RunOverview => {
      const run = listedRun(id, 'finished');
      return { ...run, entry: { ...run.entry, about: { name, tags, notes: '' } } };
    };
    expect(
      of([
        named('a', scalingName('weak', 2), ['scaling']),
        named('b', bakeOffName('2 ranks'), ['bake-off']),
        named('c', scalingName('strong', 2, 'all-reduce'), ['scaling']),
        named('mine', 'my scaling', ['scaling']),
      ]),
    ).toEqual(['scaling : a, c', 'bakeoff : b', 'mine']);
  });

  it('stays as it is where somebody renames a run of a report', () => {
    const run = point('a', 'finished');
    run.entry.about = { name: 'mine', tags: [], notes: '' };
    expect(reportOf(run.entry)).toEqual(report);
  });
});

describe('the row of a report', () => {
  it('says what is under way, the counts and the best figure', () => {
    const text = describeReport('lab', report, [
      point('weak scaling 4', 'running', 200),
      point('weak scaling 2', 'finished', 812.4),
      point('weak scaling 1', 'failed', 9000),
    ]);
    expect(text.label).toBe('Scaling of lab');
    expect(text.description).toBe('1 running, 1 measured, 1 failed · best 812 img/s · resnet20');
    expect(text.tooltip.split('\n').slice(1)).toEqual([
      'under way: weak scaling 4',
      'best: weak scaling 2, 812 img/s (the median of its last 20 step lines)',
      'failed: weak scaling 1',
    ]);
    expect(text.tooltip).toMatch(/^3 runs of a report that was begun on .*2026/);
    expect(text.contextValue).toBe('runs.report');
  });

  it('says how long ago it ended; a run that was stopped was measured', () => {
    const runs = [point('b', 'stopped', 90), point('a', 'finished')];
    expect(describeReport('lab', { kind: 'bakeoff' }, runs, 1_795_000_400)).toMatchObject({
      label: 'Fastest settings of lab',
      description: '2 measured · best 90 img/s · resnet20 · 5 min ago',
    });
  });

  it('says when runs were seen last that nobody sees now', () => {
    const last = { version: 1, at: 1_795_000_000, runs: [] } as const;
    const run = { id: 'a', dir: '/a', name: 'a', status: 'running', health: '' } as never;
    const text = describeLastReport('lab', report, [run], last, 1_795_007_200);
    expect(text).toMatchObject({ label: 'Scaling of lab', description: '1 run · seen 2 h ago' });
  });
});

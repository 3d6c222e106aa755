// Runs of a list in which those of a report stand together, and what the row of a report says.
// Nothing here knows the editor.
import { contextValues } from '../../contributions.js';
import type { LastSeen, LastSeenRun } from '../../core/follow/lastSeen.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { reportTitle, type RunReport } from '../../core/model/measured.js';
import { runName } from '../../core/model/runName.js';
import { isUnderWay, type RunStatus } from '../../core/model/runStatus.js';
import { recentLines } from '../../core/model/series/recentSteps.js';
import { flagValue } from '../../core/plan/request/flagValue.js';
import { duration, plural, seenAgo, whole } from '../figureText.js';
import type { ItemText } from './describe.js';
import { faded } from './describeLast.js';

/** One run of somebody's own, or all runs of a report. */
export type OwnOrReport<R> = { run: R } | { report: RunReport; runs: R[] };

/** In the order of the list; a report stands where its first run stood. */
export function withReports<R>(
  runs: readonly R[],
  reportOf: (run: R) => RunReport | undefined,
): OwnOrReport<R>[] {
  const reports = new Map<string, R[]>();
  return runs.flatMap((run): OwnOrReport<R>[] => {
    const report = reportOf(run);
    if (!report) return [{ run }];
    const known = reports.get(reportKey(report));
    known?.push(run);
    if (known) return [];
    const first = [run];
    reports.set(reportKey(report), first);
    return [{ report, runs: first }];
  });
}

/** The same for all runs of a report, and for no others of the profile. */
export const reportKey = ({ kind, begun }: RunReport): string => `${kind} ${begun ?? ''}`;

/**
 * `1 running, 5 measured · best 812 img/s · resnet20`, `6 measured · … · 2 min ago`. `runs`: at least
 * one, newest first. `now`: seconds since the epoch.
 */
export function describeReport(
  profile: string,
  report: RunReport,
  runs: readonly RunOverview[],
  now = Date.now() / 1000,
): ItemText {
  const model = modelOf(runs);
  const underWay = runs.filter(({ status }) => isUnderWay(status));
  const failed = runs.filter(({ status }) => status === 'failed');
  const best = bestOf(runs);
  const ended = Math.max(0, ...runs.map(({ entry }) => entry.state?.ended ?? 0));
  return {
    label: reportTitle(report.kind, profile),
    description: [
      countsOf(runs),
      ...(best ? [`best ${whole(best.rate)} img/s`] : []),
      ...(model === undefined ? [] : [model]),
      ...(underWay.length > 0 || ended === 0 ? [] : [`${duration(now - ended)} ago`]),
    ].join(' · '),
    tooltip: [
      `${plural(runs.length, 'run')} of a report${begunText(report)}`,
      ...underWay.map(({ entry }) => `under way: ${runName(entry)}`),
      ...(best
        ? [
            `best: ${runName(best.run.entry)}, ${whole(best.rate)} img/s (the median of its last ${recentLines} step lines)`,
          ]
        : []),
      ...failed.map(({ entry }) => `failed: ${runName(entry)}`),
    ].join('\n'),
    icon: 'graph-line',
    contextValue: contextValues.runsOfReport,
  };
}

/** Of a profile that is not connected: `3 runs · seen 3 h ago`. */
export function describeLastReport(
  profile: string,
  report: RunReport,
  runs: readonly LastSeenRun[],
  last: LastSeen | undefined,
  now = Date.now() / 1000,
): ItemText {
  const seen = last ? `, as they were on ${new Date(last.at * 1000).toLocaleString()}` : '';
  return {
    label: reportTitle(report.kind, profile),
    description: [plural(runs.length, 'run'), ...(last ? [`seen ${seenAgo(last, now)}`] : [])].join(' · '),
    tooltip: `${plural(runs.length, 'run')} of a report${begunText(report)}${seen}`,
    icon: 'history',
    color: faded,
    contextValue: contextValues.runsOfReport,
  };
}

const begunText = ({ begun }: RunReport): string =>
  begun === undefined
    ? ', or of several: their records do not name it'
    : ` that was begun on ${new Date(begun * 1000).toLocaleString()}`;

/** What the trainings train; undefined where none says. */
const modelOf = (runs: readonly RunOverview[]): string | undefined =>
  runs.map(({ entry }) => flagValue(entry.run?.argv ?? [], '--model')).find((model) => model !== undefined);

/** `1 running, 5 measured, 1 failed`. Runs of a report are stopped once they were measured. */
function countsOf(runs: readonly RunOverview[]): string {
  const words = new Map<string, number>();
  for (const { status } of runs) words.set(wordOf(status), (words.get(wordOf(status)) ?? 0) + 1);
  const order = [...words].sort(([a], [b]) => placeOf(a) - placeOf(b));
  return order.map(([word, count]) => `${count} ${word}`).join(', ');
}

const wordOf = (status: RunStatus): string =>
  status === 'finished' || status === 'stopped' ? 'measured' : status;

const last = ['measured', 'failed', 'interrupted', 'unknown'];
const placeOf = (word: string): number => last.indexOf(word);

/** The most images/s. Runs that failed do not count. */
function bestOf(runs: readonly RunOverview[]): { run: RunOverview; rate: number } | undefined {
  return runs.reduce<{ run: RunOverview; rate: number } | undefined>((best, run) => {
    const rate = run.status === 'failed' ? undefined : run.medianRate;
    return rate === undefined || (best && best.rate >= rate) ? best : { run, rate };
  }, undefined);
}

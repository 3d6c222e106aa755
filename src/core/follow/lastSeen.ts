// The runs of a profile as somebody saw them last, small enough to be kept while nothing is
// connected.
import { pathFromNode, type NodePath } from '../base/nodePath.js';
import { isReportKind, reportOf, type RunReport } from '../model/measured.js';
import { runName } from '../model/runName.js';
import { isStatus, isUnderWay, type RunStatus } from '../model/runStatus.js';
import type { RunOverview } from './overview.js';
import type { ProfileRuns } from './runsMonitor.js';

/** What is kept of one profile: so many runs, and so many bytes as JSON. */
const mostRuns = 20;
const mostBytes = 8192;
/** Characters of a text that is shown in one line. */
const mostText = 160;

/** A run as it was. `fraction` and `top1` are from 0 to 1; `ended` is seconds since the epoch. */
export interface LastSeenRun {
  id: string;
  dir: NodePath;
  name: string;
  status: RunStatus;
  /** How it was, in words: the line of its health. */
  health: string;
  fraction?: number;
  /** The best evaluation; where `trained`, of the last training steps. */
  top1?: number;
  trained?: true;
  ended?: number;
  /** The report that started it. */
  report?: RunReport;
}

/** The runs of a profile, newest first, and when they were seen: seconds since the epoch, by this
 *  machine's clock. */
export interface LastSeen {
  version: 1;
  at: number;
  runs: readonly LastSeenRun[];
}

/** Whether it was under way when it was seen. What it is now, nobody knows. */
export const wasActive = ({ status }: LastSeenRun): boolean => isUnderWay(status);

/**
 * What to keep of the last look at a profile; undefined where it was not looked at. Runs that are
 * over are left out first, the oldest of them first, where there are too many.
 */
export function lastSeenOf({ runs, seen }: ProfileRuns): LastSeen | undefined {
  if (seen === undefined) return undefined;
  const all = runs.map(smallRun);
  const kept = new Set(
    [...all.filter(wasActive), ...all.filter((run) => !wasActive(run))].slice(0, mostRuns),
  );
  const listed = all.filter((run) => kept.has(run));
  for (;;) {
    const last: LastSeen = { version: 1, at: seen, runs: listed };
    if (listed.length === 0 || Buffer.byteLength(JSON.stringify(last)) <= mostBytes) return last;
    const over = listed.findLastIndex((run) => !wasActive(run));
    listed.splice(over, 1); // without any, -1: the last one
  }
}

function smallRun({ entry, status, health, fraction, best, top1 }: RunOverview): LastSeenRun {
  const accuracy = best?.top1 ?? top1;
  const ended = entry.state?.ended ?? undefined;
  const report = reportOf(entry);
  return {
    id: entry.id,
    dir: entry.dir,
    name: short(runName(entry)),
    status,
    health: short(health.text),
    ...(fraction === undefined ? {} : { fraction }),
    ...(accuracy === undefined ? {} : { top1: accuracy }),
    ...(best === undefined && top1 !== undefined ? { trained: true as const } : {}),
    ...(ended === undefined ? {} : { ended }),
    ...(report === undefined ? {} : { report }),
  };
}

const short = (text: string): string => (text.length > mostText ? `${text.slice(0, mostText - 1)}…` : text);

/** What was kept, or undefined where that is damaged or of another version. */
export function parseLastSeen(value: unknown): LastSeen | undefined {
  if (!isRecord(value) || value['version'] !== 1 || !isTime(value['at'])) return undefined;
  const { at, runs } = value;
  if (!Array.isArray(runs) || runs.length > mostRuns || !runs.every(isRun)) return undefined;
  return { version: 1, at, runs };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
const isShare = (value: unknown): boolean =>
  value === undefined || (typeof value === 'number' && value >= 0 && value <= 1);
const isReport = (value: unknown): boolean =>
  isRecord(value) && isReportKind(value['kind']) && (value['begun'] === undefined || isTime(value['begun']));
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isRun(value: unknown): value is LastSeenRun {
  if (!isRecord(value)) return false;
  const { id, dir, name, status, health, fraction, top1, trained, ended, report } = value;
  return (
    isText(id) &&
    isText(dir) &&
    pathFromNode(dir).startsWith('/') &&
    isText(name) &&
    isText(status) &&
    isStatus(status) &&
    typeof health === 'string' &&
    isShare(fraction) &&
    isShare(top1) &&
    (trained === undefined || trained === true) &&
    (ended === undefined || isTime(ended)) &&
    (report === undefined || isReport(report))
  );
}

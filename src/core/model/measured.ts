// Runs that a report or a sweep starts: by their record, and where that is of an older version, by
// what they are called and by their tag.
import type { RunEntry } from '../contracts/agentApi.js';
import type { ReportRecord } from '../contracts/runSchema.js';

/** Tag of each run of a bake-off, with which its name begins. */
export const bakeOffTag = 'bake-off';
/** Tag of each run of a scaling report. */
export const scalingTag = 'scaling';

/** A run of so many steps, or more, has no end of its own: it is stopped. */
export const endlessSteps = 1_000_000_000;

/** Of a run of a bake-off. `candidate`: its settings in words. */
export const bakeOffName = (candidate: string): string => `${bakeOffTag}: ${candidate}`;

/** Of a run of a scaling report. `what`: what is measured beside the training of a point. */
export const scalingName = (
  mode: 'weak' | 'strong',
  replicas: number,
  what?: 'all-reduce' | `batch ${number}`,
): string => [`${mode} scaling ${replicas}`, what].filter((part) => part !== undefined).join(' ');

/** The report of a run. `begun` is missing where the run's record does not name its report. */
export type RunReport = Pick<ReportRecord, 'kind'> & Partial<Pick<ReportRecord, 'begun'>>;

type Measured = Pick<RunEntry, 'about'> & Partial<Pick<RunEntry, 'run'>>;

/**
 * The report that started the run, here or elsewhere; undefined for a run of somebody's own. Where
 * the record does not say: a user's own run may have such a tag, or such a name, but hardly both.
 */
export function reportOf({ about, run }: Measured): RunReport | undefined {
  if (run?.report) return run.report;
  const { name = '', tags = [] } = about ?? {};
  if (tags.includes(bakeOffTag) && (name === bakeOffTag || name.startsWith(bakeOffName('')))) {
    return { kind: 'bakeoff' };
  }
  const isPoint = /^(weak|strong) scaling \d+( all-reduce| batch \d+)?$/.test(name);
  return tags.includes(scalingTag) && isPoint ? { kind: 'scaling' } : undefined;
}

const titles: Record<ReportRecord['kind'], string> = {
  scaling: 'Scaling',
  bakeoff: 'Fastest settings',
  sweep: 'Sweep',
};

/** Whether it names a kind of report. */
export const isReportKind = (kind: unknown): kind is ReportRecord['kind'] =>
  typeof kind === 'string' && Object.hasOwn(titles, kind);

/** What the report of a profile is called. */
export const reportTitle = (kind: ReportRecord['kind'], profile: string): string =>
  `${titles[kind]} of ${profile}`;

/**
 * Whether a measurement, which ends its runs itself, started the run, here or elsewhere. A trial of
 * a sweep is a training in its own right.
 */
export function isMeasured(run: Measured): boolean {
  const kind = reportOf(run)?.kind;
  return kind !== undefined && kind !== 'sweep';
}

/** The same runs in the same order, but those of measurements last. */
export function ownFirst<R extends { run: { entry: Measured } }>(runs: readonly R[]): R[] {
  const measured = runs.filter(({ run }) => isMeasured(run.entry));
  return [...runs.filter(({ run }) => !isMeasured(run.entry)), ...measured];
}

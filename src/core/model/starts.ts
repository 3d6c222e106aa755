// Which generations of a run its supervisor began by itself, and which somebody began by hand.
import { earlierSpans } from '../cost/heldTime.js';
import type { RunFile, RunState } from '../contracts/runSchema.js';
import type { Restart } from './runMetrics.js';

/** What run.json tells of a run's starts. */
type Run = Pick<RunFile, 'earlier' | 'slurm'> | null;
type State = Pick<RunState, 'started' | 'ended' | 'updated' | 'generation'>;

/** How often a run was started, and by whom. */
export interface Starts {
  /** When somebody resumed the run, the oldest first; seconds since the epoch. */
  resumes: readonly number[];
  /** How often its supervisors started it again by themselves, in all. */
  restarts: number;
  /** Of these, those since it was last resumed, which `maxRestarts` bounds. */
  sinceResume: number;
}

/**
 * `generation` is the newest one that anything tells of, where that may be ahead of `state`. A job
 * that Slurm has queued again is no resume: nobody asked for it.
 */
export function startsBy(run: Run, state: State | null, generation = state?.generation ?? 1): Starts {
  if (!state) {
    const restarts = Math.max(0, generation - 1);
    return { resumes: [], restarts, sinceResume: restarts };
  }
  const spans = earlierSpans(run, state);
  const began = [...spans.map(({ from }) => from), state.started];
  const resumes: number[] = [];
  let first = 1; // the first generation since the run was last resumed, at least
  for (const [index, { generation: last }] of spans.entries()) {
    if (last === undefined && run?.slurm) continue;
    resumes.push(began[index + 1] ?? state.started);
    first = (last ?? first) + 1;
  }
  return {
    resumes,
    restarts: Math.max(0, generation - 1 - resumes.length),
    sinceResume: Math.max(0, generation - first),
  };
}

/** Whether the newest generation is one that somebody began by hand. */
export const isResumed = ({ resumes, sinceResume }: Starts): boolean =>
  resumes.length > 0 && sinceResume === 0;

/** Of the generations after the first one, those that a supervisor began. */
export const bySupervisor = (all: readonly Restart[], { resumes }: Starts): Restart[] =>
  all.filter(({ before, time }) => !resumes.some((resume) => before < resume && resume <= time));

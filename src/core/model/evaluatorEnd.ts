// An evaluator that ended before its time. The run goes on without evaluations, and its verdict is
// what it would have been.
import { eventText, type EventOf } from './marks.js';
import type { RunMetrics } from './runMetrics.js';
import type { RunStatus } from './runStatus.js';

/**
 * `no evaluations since step 40: the evaluator ended with exit code 3`; undefined where it has not
 * failed, or was killed because the run was to end.
 */
export function evaluatorEndText(
  status: RunStatus,
  end: EventOf<'evaluator_exited'> | undefined,
  { lastEvaluation }: Pick<RunMetrics, 'lastEvaluation'>,
): string | undefined {
  if (!end) return undefined;
  if (end.signal !== null && status !== 'running' && status !== 'finished') return undefined;
  const since = lastEvaluation ? ` since step ${lastEvaluation.step}` : '';
  return `no evaluations${since}: ${eventText(end)}`;
}

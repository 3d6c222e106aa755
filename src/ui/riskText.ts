// What a run would lose if it were killed now.
import type { RunOverview } from '../core/follow/overview.js';
import { isOver } from '../core/model/runStatus.js';
import { duration, plural } from './figureText.js';

type Pace = Pick<RunOverview, 'entry' | 'status' | 'step' | 'checkpoint' | 'secondsPerStep'>;

/**
 * `5 steps (39 s)`: the steps since the checkpoint of step `latest`, by default the newest that the
 * metrics have. Undefined for a run that is over, for one without a step, and for an own program,
 * whose checkpoints are unknown here.
 */
export function riskText(run: Pace, latest = run.checkpoint?.step ?? 0): string | undefined {
  if (isOver(run.status) || run.step === undefined || run.entry.run?.program === 'command') return undefined;
  const steps = Math.max(0, run.step - latest);
  const took = run.secondsPerStep === undefined ? '' : ` (${duration(steps * run.secondsPerStep)})`;
  return `${plural(steps, 'step')}${took}`;
}

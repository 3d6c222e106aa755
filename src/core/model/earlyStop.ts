// Why a training ended before its last step though nobody stopped it.
import type { RunFile } from '../contracts/runSchema.js';
import type { RunMetrics } from './runMetrics.js';

const flag = '--early-stop';

/**
 * `early stop: no better evaluation for 10`, the number as it was asked for; undefined where the
 * run did not end so.
 */
export function earlyStopText(
  run: Pick<RunFile, 'argv'> | null,
  { endedEarly }: Pick<RunMetrics, 'endedEarly'>,
): string | undefined {
  if (!endedEarly) return undefined;
  const argv = run?.argv ?? [];
  const at = argv.lastIndexOf(flag);
  const joined = argv.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
  const asked = at === -1 ? joined : argv[at + 1];
  return `early stop: no better evaluation${asked === undefined ? '' : ` for ${asked}`}`;
}

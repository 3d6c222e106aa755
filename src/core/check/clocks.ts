// Whose clock is off.
import { good, warned, type CheckResult } from '../base/checks.js';
import { synchroniseClock } from '../base/nodeCommands.js';

/**
 * A node's clock against this machine's, in seconds: `offset` is what it is ahead, and the truth is
 * within `uncertainty` of that.
 */
export interface ClockReading {
  offset: number;
  uncertainty: number;
}

/** Seconds by which a clock may be off before somebody is told. */
const allowed = 1;

/**
 * What is known after some questions, each with the times of this machine before and after, all in
 * seconds. The quickest answer tells most.
 */
export function readingOf(
  answers: readonly { before: number; after: number; there: number }[],
): ClockReading | undefined {
  const readings = answers.map(({ before, after, there }) => ({
    offset: there - (before + after) / 2,
    uncertainty: Math.max(0, after - before) / 2,
  }));
  return readings.sort((a, b) => a.uncertainty - b.uncertainty)[0];
}

/**
 * A row for each node. Three nodes or more are compared with their median, for it may be this
 * machine's clock that is off; one or two with this machine.
 */
export function judgeClocks(readings: ReadonlyMap<string, ClockReading>): CheckResult[] {
  const offsets = [...readings.values()].map(({ offset }) => offset);
  const ofMany = offsets.length > 2;
  const usual = ofMany ? median(offsets) : 0;
  const whose = ofMany ? 'most nodes' : 'this machine';
  return [...readings].map(([host, { offset, uncertainty }]) => {
    const ahead = offset - usual;
    const away = Math.abs(ahead);
    const amount = ahead;
    if (away - uncertainty <= allowed) return { ...good('clock', `with ${whose}`), host, amount };
    const told = `${awayText(away)} ${ahead > 0 ? 'ahead of' : 'behind'} ${whose}`;
    return { ...warned('clock', told, synchroniseClock), host, amount };
  });
}

function awayText(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Of at least one value. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? NaN) + high) / 2;
}

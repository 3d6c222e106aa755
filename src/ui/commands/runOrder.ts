// In which order runs stand where one is asked for.
import type { RunOverview } from '../../core/follow/overview.js';
import { ownFirst } from '../../core/model/measured.js';
import { isUnderWay } from '../../core/model/runStatus.js';

/**
 * The selected run first, else newest first within a profile. With `runningFirst` what is under way
 * stands before everything else. Runs of reports stand behind others of the same place.
 */
export function orderedRuns<
  R extends {
    run: Pick<RunOverview, 'status'> & { entry: Pick<RunOverview['entry'], 'about'> & { dir: string } };
  },
>(runs: readonly R[], selected: string | undefined, runningFirst: boolean): R[] {
  const rank = ({ run }: R): number =>
    (runningFirst && isUnderWay(run.status) ? -2 : 0) - (run.entry.dir === selected ? 1 : 0);
  return ownFirst(runs).sort((a, b) => rank(a) - rank(b));
}

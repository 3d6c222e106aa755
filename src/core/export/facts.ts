// What a tracker gets of a run besides its curves.
import { costOf } from '../cost/runCost.js';
import { packagePrefix, settingsOf } from '../compare/settings.js';
import { isOver, statusOf, type RunStatus } from '../model/runStatus.js';
import { startsBy } from '../model/starts.js';
import { runName } from '../model/runName.js';
import { trackerName } from './names.js';
import type { RunRecord } from './runRecord.js';

/** Plain data. Times are in milliseconds since the epoch. */
export interface RunFacts {
  id: string;
  name: string;
  notes: string;
  tags: readonly string[];
  status: RunStatus;
  over: boolean;
  started: number;
  /** Undefined before the run's end. */
  ended: number | undefined;
  /** Names as `trackerName` makes them. */
  settings: Readonly<Record<string, string>>;
  /** Name and value of what changes while the run goes on. */
  state: Readonly<Record<string, string>>;
}

/** Secrets among the settings are left out, as in a comparison. */
export function factsOf(record: RunRecord, profile: string): RunFacts {
  const { details, start } = record;
  const { run, state, about } = details;
  const status = statusOf(details);
  const over = isOver(status);
  const settings = Object.entries(settingsOf(run, start))
    .filter(([name]) => !name.startsWith(packagePrefix)) // some hundred, where a tracker shows few
    .map(([name, value]) => [trackerName(name.replace(/^\$/, 'env/')), value]);
  const pace = {
    secondsLeft: undefined,
    secondsPerStep: undefined,
    totalSteps: undefined,
    totalEpochs: undefined,
  };
  const cost = costOf(run, state, { over, ...pace });
  const { restarts } = startsBy(run, state);
  const ended = state?.ended ?? state?.updated;
  return {
    id: details.id,
    name: runName(details),
    notes: about?.notes ?? '',
    tags: about?.tags ?? [],
    status,
    over,
    started: Math.round((run?.created ?? state?.started ?? 0) * 1000),
    ended: over && ended !== undefined ? Math.round(ended * 1000) : undefined,
    settings: Object.fromEntries(settings) as Record<string, string>,
    state: {
      profile,
      folder: details.dir,
      state: status,
      reason: state?.reason ?? '',
      restarts: String(restarts),
      ...(cost ? { cost: String(cost.soFar), currency: cost.currency } : {}),
    },
  };
}

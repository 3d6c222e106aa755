// What was started last, newest first; for Run Again and for the choices of Run Training.
import type { TypedRun } from '../core/plan/request/request.js';
import type { Services } from './services.js';

/** What starts the same run once more. */
export interface RecentRun extends Pick<
  TypedRun,
  | 'words'
  | 'ranks'
  | 'nodes'
  | 'hosts'
  | 'label'
  | 'name'
  | 'tags'
  | 'notes'
  | 'per'
  | 'gpus'
  | 'logdir'
  | 'stage'
  | 'evaluator'
  | 'budget'
  | 'budgetStop'
  | 'timeLimit'
  | 'silenceTimeout'
  | 'share'
  | 'requirements'
  | 'slurm'
> {
  profile: string;
  /** A folder of this machine that goes along with each start, as it is then. */
  codeFolder?: string;
  /** Where an own program starts on this machine; the workspace where it is left out. */
  cwd?: string;
}

const memoryKey = 'trainyard.recentRuns';
const mostRecent = 8;
const profileKey = 'trainyard.lastProfile';

/** The profile that was connected, measured or run on last. */
export const lastProfile = ({ context }: Pick<Services, 'context'>): string | undefined =>
  context.globalState.get<string>(profileKey) ?? recentRuns({ context })[0]?.profile;

export async function rememberProfile({ context }: Services, profile: string): Promise<void> {
  await context.globalState.update(profileKey, profile);
}

export function recentRuns({ context }: Pick<Services, 'context'>): readonly RecentRun[] {
  return context.globalState.get<RecentRun[]>(memoryKey) ?? [];
}

export async function rememberRun(services: Services, run: RecentRun): Promise<void> {
  const same = (other: RecentRun): boolean =>
    other.profile === run.profile && other.cwd === run.cwd && other.words.join('\0') === run.words.join('\0');
  const list = [run, ...recentRuns(services).filter((other) => !same(other))].slice(0, mostRecent);
  await services.context.globalState.update(memoryKey, list);
  await rememberProfile(services, run.profile);
}

// What was started last, newest first; for Run Again and for the choices of Run Training.
import type { Services } from './services.js';

export interface RecentRun {
  profile: string;
  words: readonly string[];
  ranks?: number;
  /** What the run was called, where it was not its model's name. */
  name?: string;
}

const memoryKey = 'trainyard.recentRuns';
const mostRecent = 8;

export function recentRuns({ context }: Services): readonly RecentRun[] {
  return context.globalState.get<RecentRun[]>(memoryKey) ?? [];
}

export async function rememberRun(services: Services, run: RecentRun): Promise<void> {
  const same = (other: RecentRun): boolean =>
    other.profile === run.profile && other.words.join('\0') === run.words.join('\0');
  const list = [run, ...recentRuns(services).filter((other) => !same(other))].slice(0, mostRecent);
  await services.context.globalState.update(memoryKey, list);
}

// Settings, tags and state of a run, as MLflow has places for them.
import type { Progress } from '../../base/progress.js';
import type { RunStatus } from '../../model/runStatus.js';
import type { RunFacts } from '../facts.js';
import type { MlflowApi } from './api.js';
import { answers, type MlflowRun } from './schemas.js';

/** Names the run of ours; by it an export finds what was exported before. */
export const runTag = 'trainyard.run';

/** In one request. */
const mostPairs = 100;
/** Characters of a value, which servers older than 2.10 accept too. */
const mostOfParam = 500;
const mostOfTag = 5000;

interface Pair {
  key: string;
  value: string;
}

/** `KILLED` is MLflow's word for a run that was stopped. */
export function statusOf(status: RunStatus): string {
  switch (status) {
    case 'finished':
      return 'FINISHED';
    case 'stopped':
      return 'KILLED';
    case 'failed':
    case 'interrupted':
      return 'FAILED';
    case 'queued':
      return 'SCHEDULED';
    case 'starting':
    case 'running':
    case 'stopping':
    case 'evaluating':
    case 'unknown':
      return 'RUNNING';
  }
}

/**
 * A parameter of MLflow is written once. A setting that changed later, since the run was resumed
 * with another one, is a tag `trainyard.changed.NAME`.
 */
export async function describeRun(
  api: MlflowApi,
  run: MlflowRun,
  facts: RunFacts,
  { signal }: Progress,
): Promise<void> {
  const had = new Map((run.data.params ?? []).map(({ key, value }) => [key, value]));
  const settings = Object.entries(facts.settings).map(([key, value]) => ({
    key,
    value: cut(value, mostOfParam),
  }));
  const params = settings.filter(({ key }) => !had.has(key));
  const changed = settings.filter(({ key, value }) => had.has(key) && had.get(key) !== value);
  const tags: Pair[] = [
    { key: 'mlflow.note.content', value: facts.notes },
    { key: 'trainyard.tags', value: facts.tags.join(', ') },
    ...Object.entries(facts.state).map(([key, value]) => ({ key: `trainyard.${key}`, value })),
    ...changed.map(({ key, value }) => ({ key: `trainyard.changed.${key}`.slice(0, 250), value })),
  ].map(({ key, value }) => ({ key, value: cut(value, mostOfTag) }));
  const { run_id } = run.info;
  for (const part of parts(params)) {
    await api.post('runs/log-batch', { run_id, params: part }, answers.nothing, { signal });
  }
  for (const part of parts(tags)) {
    await api.post('runs/log-batch', { run_id, tags: part }, answers.nothing, { signal });
  }
  run.data.params = [...(run.data.params ?? []), ...params];
}

const cut = (value: string, most: number): string =>
  value.length > most ? `${value.slice(0, most - 1)}…` : value;

function parts(pairs: readonly Pair[]): Pair[][] {
  const list: Pair[][] = [];
  for (let at = 0; at < pairs.length; at += mostPairs) list.push(pairs.slice(at, at + mostPairs));
  return list;
}

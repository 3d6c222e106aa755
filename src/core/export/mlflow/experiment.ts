// Which experiment of MLflow a run goes to.
import { UserError } from '../../base/errors.js';
import { nearestOf } from '../../base/nearest.js';
import { MlflowRefusal, type AskOptions, type MlflowApi } from './api.js';
import { answers } from './schemas.js';

/** Made where it is not there. One that somebody names has to be there. */
export const usualExperiment = 'trainyard';

/**
 * The id of the experiment; undefined where the usual one is still to be made. UserError (usage)
 * where a named one is not there, or was deleted.
 */
export async function findExperiment(
  api: MlflowApi,
  name: string,
  options: AskOptions,
): Promise<string | undefined> {
  try {
    const query = { experiment_name: name };
    const { experiment } = await api.get('experiments/get-by-name', query, answers.experiment, options);
    if (experiment.lifecycle_stage !== 'deleted') return experiment.experiment_id;
    throw new UserError(
      'usage',
      `the experiment "${name}" of MLflow was deleted`,
      'Restore it, or name another one',
    );
  } catch (error) {
    if (!(error instanceof MlflowRefusal) || error.reason !== 'RESOURCE_DOES_NOT_EXIST') throw error;
    if (name === usualExperiment) return undefined;
    throw new UserError('usage', `MLflow has no experiment "${name}"`, await others(api, name, options), {
      cause: error,
    });
  }
}

/** UserError (failed) where the server refuses. */
export async function makeExperiment(api: MlflowApi, name: string, options: AskOptions): Promise<string> {
  const { experiment_id: id } = await api.post('experiments/create', { name }, answers.created, options);
  return id;
}

async function others(api: MlflowApi, name: string, options: AskOptions): Promise<string> {
  const { experiments = [] } = await api.post(
    'experiments/search',
    { max_results: 1000 },
    answers.experiments,
    options,
  );
  const names = experiments.map((each) => each.name);
  const nearest = nearestOf(name, names);
  if (nearest !== undefined) return `Did you mean "${nearest}"?`;
  return `Make it there first, or name none: then it is "${usualExperiment}"`;
}

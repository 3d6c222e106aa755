// Where a run is exported to, for both user interfaces.
import { FileTracker } from '../files/tracker.js';
import { MlflowApi } from '../mlflow/api.js';
import { usualExperiment } from '../mlflow/experiment.js';
import { MlflowTracker } from '../mlflow/tracker.js';
import type { Tracker } from '../tracker.js';
import { WandbTracker } from '../wandb/tracker.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Kinds, in the order in which they are offered. */
export const destinationKinds = ['mlflow', 'wandb', 'csv', 'json'] as const;
/** One kind. */
export type DestinationKind = (typeof destinationKinds)[number];

/**
 * Paths are absolute ones of this machine. `uri` is what `trackingUri` gives. `folder` is where
 * W&B's folder `wandb` is, or is made. `path` is a file, or a folder in which the file is named
 * after the run.
 */
export type Destination =
  | { to: 'mlflow'; uri: URL; experiment: string }
  | { to: 'wandb'; folder: string; project: string; entity: string }
  | { to: 'csv' | 'json'; path: string };

/** The experiment of MLflow that the environment names, else the usual one. */
export const experimentOf = (env: Env): string => env['MLFLOW_EXPERIMENT_NAME'] ?? usualExperiment;

/** Likewise the project of W&B, and its entity, which is empty for that of the login. */
export const projectOf = (env: Env): { project: string; entity: string } => ({
  project: env['WANDB_PROJECT'] ?? usualExperiment,
  entity: env['WANDB_ENTITY'] ?? '',
});

/** What all kinds are given. */
export interface TrackerSettings {
  /** The profile of the run. */
  profile: string;
  /** Has the login of MLflow. */
  env: Env;
  /** In words: how a folder of W&B is uploaded, of a run that is over and of one that is not. */
  howToUpload: (path: string, over: boolean) => string;
  /** Is given what a user should know. */
  onNote: (text: string) => void;
}

/** For one run. */
export function trackerFor(destination: Destination, settings: TrackerSettings): Tracker {
  const { profile, env, howToUpload, onNote } = settings;
  switch (destination.to) {
    case 'mlflow': {
      const api = new MlflowApi(destination.uri, env);
      return new MlflowTracker({ api, experiment: destination.experiment, profile, onNote });
    }
    case 'wandb': {
      const { folder: parent, project, entity } = destination;
      return new WandbTracker({ parent, project, entity, profile, onNote, howToUpload });
    }
    case 'csv':
    case 'json':
      return new FileTracker({ form: destination.to, path: destination.path, profile });
  }
}

import { exitCodes } from '../../core/base/errors.js';
import { exportedCheckpoints } from '../../core/export/checkpoints.js';
import { trackerFor } from '../../core/export/places/destination.js';
import { exportRun } from '../../core/export/exportRun.js';
import { usualExperiment } from '../../core/export/mlflow/experiment.js';
import type { Verb } from '../context.js';
import { destinationOf, howToUpload } from '../destinations.js';

export const exportVerb: Verb = {
  verb: 'export',
  summary: 'sends the figures of a run to MLflow or W&B, or writes them into a file (CSV, JSON)',
  words: ['RUN'],
  flags: [
    { name: 'to', value: 'TRACKER', help: 'mlflow, wandb, csv or json' },
    { name: 'uri', value: 'URI', help: "MLflow's address; by default MLFLOW_TRACKING_URI" },
    {
      name: 'dir',
      value: 'FOLDER',
      help: "where W&B's folder wandb is, or is made; by default WANDB_DIR, else this folder",
    },
    {
      name: 'out',
      value: 'FILE',
      help: 'the file of csv or json, or a folder; by default it is named after the run, in this folder',
    },
    {
      name: 'experiment',
      value: 'NAME',
      help: `an experiment of MLflow that is there, or a project of W&B; by default MLFLOW_EXPERIMENT_NAME or WANDB_PROJECT, else "${usualExperiment}", which is made`,
    },
    { name: 'follow', help: 'go on until the run is over, also over lost connections and restarts' },
    { name: 'checkpoints', value: 'WHICH', help: 'send checkpoints to MLflow too: best, last or all' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'A run that was exported before is brought up to date; there is one run in the tracker for each run of ours, whatever restarts it had.',
    "MLflow's login is taken from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, or netrc.",
    "For W&B a folder is written that W&B's own program uploads, with its own login: wandb sync FOLDER.",
    'A file of CSV or JSON is replaced as a whole: a row for each step, and one for each sample of hosts and GPUs.',
  ],
  async run(context, args) {
    const which = args.value('checkpoints');
    const checkpoints = which === undefined ? undefined : exportedCheckpoints(which);
    const onNote = (text: string): void => {
      context.output.note(text);
    };
    const destination = destinationOf(args, context.cwd, process.env);
    const entry = await context.resolveRun(args);
    const profile = context.currentProfile.name;
    const tracker = trackerFor(destination, { profile, env: process.env, howToUpload, onNote });
    const { node } = context;
    const follow = args.has('follow');
    const exported = await context.withProgress((progress) =>
      exportRun({ node, entry, tracker, follow, checkpoints, progress, onNote }),
    );
    const { id, dir } = entry;
    const { to } = destination;
    if (context.json) context.output.json({ type: 'exported', id, dir, to, ...exported });
    else context.output.line(`${exported.place}  ${exported.values} values`);
    return exitCodes.done;
  },
};

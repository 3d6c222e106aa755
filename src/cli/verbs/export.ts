import { exitCodes, UserError } from '../../core/base/errors.js';
import { exportedCheckpoints } from '../../core/export/checkpoints.js';
import { exportRun } from '../../core/export/exportRun.js';
import { MlflowApi, trackingUri } from '../../core/export/mlflow/api.js';
import { usualExperiment } from '../../core/export/mlflow/experiment.js';
import { MlflowTracker } from '../../core/export/mlflow/tracker.js';
import type { Args } from '../args.js';
import type { Verb } from '../context.js';

export const exportVerb: Verb = {
  verb: 'export',
  summary: 'sends the figures of a run to an experiment tracker (MLflow)',
  words: ['RUN'],
  flags: [
    { name: 'to', value: 'TRACKER', help: 'mlflow' },
    { name: 'uri', value: 'URI', help: "MLflow's address; by default MLFLOW_TRACKING_URI" },
    {
      name: 'experiment',
      value: 'NAME',
      help: `an experiment that is there; by default MLFLOW_EXPERIMENT_NAME, else "${usualExperiment}", which is made`,
    },
    { name: 'follow', help: 'go on until the run is over, also over lost connections and restarts' },
    { name: 'checkpoints', value: 'WHICH', help: 'send checkpoints too: best, last or all' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'A run that was exported before is brought up to date; there is one run in the experiment for each run of ours, whatever restarts it had.',
    'The login is taken from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, or netrc.',
  ],
  async run(context, args) {
    const { uri, experiment } = placeOf(args, process.env);
    const which = args.value('checkpoints');
    const checkpoints = which === undefined ? undefined : exportedCheckpoints(which);
    const api = new MlflowApi(trackingUri(uri), process.env);
    const entry = await context.resolveRun(args);
    const onNote = (text: string): void => {
      context.output.note(text);
    };
    const profile = context.currentProfile.name;
    const tracker = new MlflowTracker({ api, experiment, profile, onNote });
    const { node } = context;
    const follow = args.has('follow');
    const exported = await context.withProgress((progress) =>
      exportRun({ node, entry, tracker, follow, checkpoints, progress, onNote }),
    );
    const { id, dir } = entry;
    if (context.json) context.output.json({ type: 'exported', id, dir, to: 'mlflow', ...exported });
    else context.output.line(`${exported.place}  ${exported.values} values`);
    return exitCodes.done;
  },
};

function placeOf(
  args: Args,
  env: Readonly<Record<string, string | undefined>>,
): { uri: string; experiment: string } {
  const to = args.value('to');
  if (to !== 'mlflow') {
    const what = to === undefined ? '--to is missing' : `--to takes no tracker "${to}"`;
    throw new UserError('usage', what, 'Write --to mlflow');
  }
  const uri = args.value('uri') ?? env['MLFLOW_TRACKING_URI'];
  if (uri === undefined || uri === '') {
    const hint = 'Give --uri, say http://127.0.0.1:5000, or set MLFLOW_TRACKING_URI';
    throw new UserError('usage', 'nothing says where MLflow is', hint);
  }
  return { uri, experiment: args.value('experiment') ?? env['MLFLOW_EXPERIMENT_NAME'] ?? usualExperiment };
}

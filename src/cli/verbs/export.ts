import { resolve } from 'node:path';
import { exitCodes, UserError } from '../../core/base/errors.js';
import { exportedCheckpoints } from '../../core/export/checkpoints.js';
import { exportRun } from '../../core/export/exportRun.js';
import { MlflowApi, trackingUri } from '../../core/export/mlflow/api.js';
import { usualExperiment } from '../../core/export/mlflow/experiment.js';
import { MlflowTracker } from '../../core/export/mlflow/tracker.js';
import type { Tracker } from '../../core/export/tracker.js';
import { WandbTracker } from '../../core/export/wandb/tracker.js';
import type { Args } from '../args.js';
import type { Context, Verb } from '../context.js';

export const exportVerb: Verb = {
  verb: 'export',
  summary: 'sends the figures of a run to an experiment tracker (MLflow, W&B)',
  words: ['RUN'],
  flags: [
    { name: 'to', value: 'TRACKER', help: 'mlflow or wandb' },
    { name: 'uri', value: 'URI', help: "MLflow's address; by default MLFLOW_TRACKING_URI" },
    {
      name: 'dir',
      value: 'FOLDER',
      help: "where W&B's folder wandb is, or is made; by default WANDB_DIR, else this folder",
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
  ],
  async run(context, args) {
    const which = args.value('checkpoints');
    const checkpoints = which === undefined ? undefined : exportedCheckpoints(which);
    const onNote = (text: string): void => {
      context.output.note(text);
    };
    const { to, make } = trackerOf(context, args, process.env);
    const entry = await context.resolveRun(args);
    const tracker = make(context.currentProfile.name, onNote);
    const { node } = context;
    const follow = args.has('follow');
    const exported = await context.withProgress((progress) =>
      exportRun({ node, entry, tracker, follow, checkpoints, progress, onNote }),
    );
    const { id, dir } = entry;
    if (context.json) context.output.json({ type: 'exported', id, dir, to, ...exported });
    else context.output.line(`${exported.place}  ${exported.values} values`);
    return exitCodes.done;
  },
};

type Env = Readonly<Record<string, string | undefined>>;
type MakeTracker = (profile: string, onNote: (text: string) => void) => Tracker;

/** UserError (usage) for flags that do not go together. */
function trackerOf(context: Context, args: Args, env: Env): { to: 'mlflow' | 'wandb'; make: MakeTracker } {
  const to = args.value('to');
  if (to === 'mlflow') {
    refuse(args, ['dir'], to);
    return { to, make: mlflow(args, env) };
  }
  if (to === 'wandb') {
    refuse(args, ['uri', 'checkpoints'], to);
    return { to, make: wandb(context, args, env) };
  }
  const what = to === undefined ? '--to is missing' : `--to takes no tracker "${to}"`;
  throw new UserError('usage', what, 'Write --to mlflow or --to wandb');
}

function refuse(args: Args, flags: readonly string[], to: string): void {
  const flag = flags.find((name) => args.has(name));
  if (flag === undefined) return;
  const hints: Record<string, string> = {
    dir: 'Name the server with --uri',
    uri: "Name a folder with --dir; W&B's own program knows its server",
    checkpoints: 'Get one with trainyard download, and give its folder to wandb artifact put',
  };
  throw new UserError('usage', `--${flag} does not go with --to ${to}`, hints[flag] ?? '');
}

function mlflow(args: Args, env: Env): MakeTracker {
  const uri = args.value('uri') ?? env['MLFLOW_TRACKING_URI'];
  if (uri === undefined || uri === '') {
    const hint = 'Give --uri, say http://127.0.0.1:5000, or set MLFLOW_TRACKING_URI';
    throw new UserError('usage', 'nothing says where MLflow is', hint);
  }
  const experiment = args.value('experiment') ?? env['MLFLOW_EXPERIMENT_NAME'] ?? usualExperiment;
  const api = new MlflowApi(trackingUri(uri), env);
  return (profile, onNote) => new MlflowTracker({ api, experiment, profile, onNote });
}

function wandb(context: Context, args: Args, env: Env): MakeTracker {
  const parent = resolve(context.cwd, args.value('dir') ?? env['WANDB_DIR'] ?? '.');
  const project = args.value('experiment') ?? env['WANDB_PROJECT'] ?? usualExperiment;
  const entity = env['WANDB_ENTITY'] ?? '';
  return (profile, onNote) => new WandbTracker({ parent, project, entity, profile, onNote, howToUpload });
}

const howToUpload = (path: string, over: boolean): string =>
  over
    ? `upload it with: wandb sync ${path}`
    : `the run is not over; until then, upload it with: wandb beta sync --live ${path}`;

// Where a run is exported to, as it stands on a command line or in the environment.
import { resolve } from 'node:path';
import { UserError } from '../core/base/errors.js';
import {
  destinationKinds,
  experimentOf,
  projectOf,
  type Destination,
  type DestinationKind,
} from '../core/export/places/destination.js';
import { trackingUri } from '../core/export/mlflow/api.js';
import type { Args } from './args.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Of `export`: `--to` with the flags that go with it. UserError (usage). */
export function destinationOf(args: Args, cwd: string, env: Env): Destination {
  const text = args.value('to');
  const hint = `Write --to ${destinationKinds.join(', --to ')}`;
  if (text === undefined) throw new UserError('usage', '--to is missing', hint);
  const to = kindOf(text);
  if (to === undefined) throw new UserError('usage', `--to takes no tracker "${text}"`, hint);
  for (const flag of Object.keys(ownFlags)) if (args.has(flag)) refuse(flag, to);
  const place = args.value(to === 'mlflow' ? 'uri' : to === 'wandb' ? 'dir' : 'out');
  return madeOf(to, place, args.value('experiment'), cwd, env);
}

/** Of `--export TRACKER=PLACE`, or `--export TRACKER` for the usual place. UserError (usage). */
export function destinationIn(text: string, cwd: string, env: Env): Destination {
  const [, word = '', place] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const to = kindOf(word);
  if (to !== undefined && place !== '') return madeOf(to, place, undefined, cwd, env);
  const forms = 'mlflow=URI, wandb=FOLDER, csv=FILE or json=FILE';
  throw new UserError(
    'usage',
    `--export does not take "${to === undefined ? word : text}"`,
    `Write ${forms}`,
  );
}

/** How a folder of W&B gets to its server. */
export const howToUpload = (path: string, over: boolean): string =>
  over
    ? `upload it with: wandb sync ${path}`
    : `the run is not over; until then, upload it with: wandb beta sync --live ${path}`;

const kindOf = (text: string): DestinationKind | undefined => destinationKinds.find((kind) => kind === text);

/** Kinds of destinations that a flag goes with, and what to do instead with others. */
const ownFlags: Readonly<Record<string, { kinds: readonly DestinationKind[]; instead: Place }>> = {
  uri: {
    kinds: ['mlflow'],
    instead: {
      wandb: "Name a folder with --dir; W&B's own program knows its server",
      other: 'Name a file with --out',
    },
  },
  dir: {
    kinds: ['wandb'],
    instead: { mlflow: 'Name the server with --uri', other: 'Name a file with --out' },
  },
  out: {
    kinds: ['csv', 'json'],
    instead: { mlflow: 'Name the server with --uri', other: 'Name a folder with --dir' },
  },
  experiment: { kinds: ['mlflow', 'wandb'], instead: { other: 'Leave it out' } },
  checkpoints: {
    kinds: ['mlflow'],
    instead: {
      wandb: 'Get one with trainyard download, and give its folder to wandb artifact put',
      other: 'Get one with trainyard download',
    },
  },
};
interface Place {
  mlflow?: string;
  wandb?: string;
  other: string;
}

function refuse(flag: string, to: DestinationKind): void {
  const own = ownFlags[flag];
  if (!own || own.kinds.includes(to)) return;
  const { instead } = own;
  const hint =
    (to === 'mlflow' ? instead.mlflow : to === 'wandb' ? instead.wandb : undefined) ?? instead.other;
  throw new UserError('usage', `--${flag} does not go with --to ${to}`, hint);
}

function madeOf(
  to: DestinationKind,
  place: string | undefined,
  experiment: string | undefined,
  cwd: string,
  env: Env,
): Destination {
  if (to === 'csv' || to === 'json') return { to, path: resolve(cwd, place ?? '.') };
  if (to === 'wandb') {
    const { project, entity } = projectOf(env);
    const folder = resolve(cwd, place ?? env['WANDB_DIR'] ?? '.');
    return { to, folder, project: experiment ?? project, entity };
  }
  const uri = place ?? env['MLFLOW_TRACKING_URI'];
  if (uri === undefined || uri === '') {
    const hint = 'Give its address, say http://127.0.0.1:5000, or set MLFLOW_TRACKING_URI';
    throw new UserError('usage', 'nothing says where MLflow is', hint);
  }
  return { to, uri: trackingUri(uri), experiment: experiment ?? experimentOf(env) };
}

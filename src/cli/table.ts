// Every verb, in the order in which help lists them.
import type { Verb } from './context.js';
import { attach } from './verbs/attach.js';
import { check } from './verbs/check.js';
import { checkpoints } from './verbs/checkpoints.js';
import { deleteRun } from './verbs/delete.js';
import { gpus } from './verbs/gpus.js';
import { profiles } from './verbs/profiles.js';
import { run } from './verbs/run.js';
import { runs } from './verbs/runs.js';
import { runtime } from './verbs/runtime.js';
import { stop } from './verbs/stop.js';
import { tensorboard } from './verbs/tensorboard.js';

export const verbs: readonly Verb[] = [
  profiles,
  check,
  gpus,
  run,
  runs,
  attach,
  stop,
  checkpoints,
  tensorboard,
  deleteRun,
  runtime,
];

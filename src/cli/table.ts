// Every verb, in the order in which help lists them.
import type { Verb } from './context.js';
import { attach } from './verbs/attach.js';
import { check } from './verbs/cluster/check.js';
import { checkpoints } from './verbs/checkpoints/checkpoints.js';
import { compare } from './verbs/compare.js';
import { debug } from './verbs/debug.js';
import { deleteRun } from './verbs/delete.js';
import { download } from './verbs/checkpoints/download.js';
import { evaluate } from './verbs/checkpoints/eval.js';
import { copy, exec } from './verbs/cluster/exec.js';
import { exportVerb } from './verbs/export.js';
import { gpus } from './verbs/cluster/gpus.js';
import { importHosts } from './verbs/profiles/import.js';
import { clean, killLeftovers } from './verbs/cluster/leftovers.js';
import { logs } from './verbs/logs.js';
import { mcp } from './verbs/mcp.js';
import { open } from './verbs/open.js';
import { predict } from './verbs/checkpoints/predict.js';
import { profiles } from './verbs/profiles/profiles.js';
import { report } from './verbs/report.js';
import { resume } from './verbs/resume.js';
import { run } from './verbs/run.js';
import { runFrom } from './verbs/runFrom.js';
import { runs } from './verbs/runs.js';
import { runtime } from './verbs/cluster/runtime.js';
import { stage } from './verbs/cluster/stage.js';
import { stop } from './verbs/stop.js';
import { sweep } from './verbs/sweep.js';
import { tag } from './verbs/tag.js';
import { tensorboard } from './verbs/tensorboard.js';
import { terminal } from './verbs/cluster/terminal.js';
import { trust } from './verbs/cluster/trust.js';
import { tunnel } from './verbs/cluster/tunnel.js';

export const verbs: readonly Verb[] = [
  profiles,
  importHosts,
  trust,
  check,
  gpus,
  exec,
  copy,
  stage,
  run,
  runFrom,
  runs,
  compare,
  report,
  sweep,
  tag,
  attach,
  logs,
  resume,
  stop,
  checkpoints,
  evaluate,
  predict,
  download,
  exportVerb,
  tensorboard,
  debug,
  open,
  terminal,
  tunnel,
  deleteRun,
  killLeftovers,
  clean,
  mcp,
  runtime,
];

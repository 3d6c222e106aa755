// Which lines of JSON a verb prints.
import type { OutputName } from './records.js';

const ofRun = ['run', 'queue', 'waiting', 'tensorboard', 'metric', 'event', 'figure', 'summary'] as const;

/** By verb, as `outputRecords` calls them. */
export const outputOfVerbs: Readonly<Record<string, readonly OutputName[]>> = {
  profiles: ['profile'],
  import: ['profile', 'hosts', 'partition'],
  trust: ['trusted'],
  check: ['check', 'fix'],
  gpus: ['sample'],
  exec: ['line', 'exit'],
  copy: ['copied'],
  stage: ['staged'],
  run: [...ofRun, 'staged', 'script', 'check'],
  'run-from': [...ofRun, 'check'],
  resume: [...ofRun, 'check'],
  attach: ofRun,
  runs: ['listed-run'],
  compare: ['compared', 'differences'],
  report: ['scaling-point', 'scaling', 'bakeoff-candidate', 'bakeoff'],
  sweep: ['sweep-trial', 'sweep', 'stopped'],
  tag: ['tagged'],
  logs: ['log'],
  stop: ['stopped', 'killed'],
  checkpoints: ['checkpoint'],
  eval: ['evaluation'],
  predict: ['prediction', 'mistakes'],
  download: ['downloaded', 'downloaded-files'],
  export: ['exported'],
  tensorboard: ['served-tensorboard'],
  debug: ['debugger'],
  open: ['page'],
  delete: ['deleted', 'deleted-checkpoint'],
  tunnel: ['tunnel'],
  'kill-leftovers': ['process'],
  clean: ['cleaned'],
  /** The terminal of this machine is the node's. */
  terminal: [],
  /** It speaks MCP on stdout. */
  mcp: [],
  runtime: ['runtime'],
};

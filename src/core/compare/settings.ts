// What a run was asked to do, as names and values; and in which of them runs differ.
import type { StartLine } from '../contracts/metricsSchema.js';
import type { RunFile } from '../contracts/runSchema.js';
import { startsRanks } from '../contracts/slots.js';
import type { ComparedRun } from './comparedRun.js';

/** One setting that is not the same in all runs. A run without it has null. */
export interface Difference {
  name: string;
  values: (string | null)[];
}

/** Their values are nobody's business who is shown a comparison. */
const secret = /(key|token|secret|passw(or)?d|credential)/i;
/** These name the run itself. */
const ofTheRun = new Set(['run-dir']);

/**
 * `run` is what was asked for, and `start` what the trainer made of it: where both name a setting,
 * the latter counts.
 */
export function settingsOf(run: RunFile | null, start: StartLine | undefined): Record<string, string> {
  const settings = new Map<string, string>();
  const put = (name: string, value: string | number | null | undefined): void => {
    if (value === null || value === undefined || ofTheRun.has(name)) return;
    settings.set(name, secret.test(name) && !name.startsWith(packagePrefix) ? 'set' : String(value));
  };
  if (run) putRun(run, put);
  if (start) putStart(start, put);
  return Object.fromEntries(settings);
}

/** What stands before the name of a Python package. */
export const packagePrefix = 'package ';

function putPackages({ environment }: RunFile, put: Put): void {
  put('Python', environment?.python);
  for (const line of environment?.packages ?? []) {
    const [, name = line, version = ''] = /^([\w.-]+)(?:==| @ )(.*)$/.exec(line) ?? [];
    put(`${packagePrefix}${name}`, version);
  }
}

type Put = (name: string, value: string | number | null | undefined) => void;

function putRun(run: RunFile, put: Put): void {
  const trains = run.program === 'trainer';
  const words = wordsOf(run.argv);
  put(trains ? 'verb' : 'command', words.command);
  for (const [name, value] of words.flags) put(name, value);
  put('device', run.device?.used);
  put('ranks', run.ranks);
  const ranked = run.nodes?.filter(startsRanks);
  put('nodes', ranked?.length ?? 1);
  const gpus = ranked ? ranked.flatMap((node) => node.gpus ?? []) : (run.gpus ?? []);
  put('GPUs', gpus.length);
  put('threads of a rank', run.threadsPerRank);
  if (trains) put('trainer', run.hashes.trainer.slice(0, 12));
  putPackages(run, put);
  put('code', run.code?.snapshot.slice(0, 12));
  put('commit', run.code?.commit?.slice(0, 12));
  if (run.price) put('price', `${run.price.amount} ${run.price.currency} per ${run.price.per} and hour`);
  for (const [name, value] of Object.entries(run.env)) if (!ofPlace.has(name)) put(`$${name}`, value);
}

/** Where something lies on a machine, which is no setting. */
const ofPlace = new Set(['TRAINYARD_NVIDIA_LIBRARIES']);

function putStart(start: StartLine, put: Put): void {
  put('model', start.model);
  put('batch-size', start.batch_size);
  put('accumulate', start.accumulate);
  put('batch of an update', start.global_batch);
  put('optimizer', start.optimizer);
  put('strategy', start.strategy);
  put('servers', start.servers);
  put('all-reduce', start.all_reduce);
  put('precision', start.precision);
  put('device', start.device);
  put('jpeg-decoder', start.jpeg_decoder);
  put('training images', start.train_images);
  put('classes', start.classes);
}

/** `--name VALUE` and `--name=VALUE` are flags; every other word is of the command. */
function wordsOf(argv: readonly string[]): { command: string; flags: Map<string, string> } {
  const flags = new Map<string, string>();
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    const [, name, given] = /^--([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) {
      rest.push(word);
      continue;
    }
    const next = argv[at + 1];
    if (given !== undefined) flags.set(name, given);
    else if (next !== undefined && (!next.startsWith('-') || /^-[\d.]/.test(next))) {
      flags.set(name, next);
      at++;
    } else flags.set(name, 'yes');
  }
  return { command: rest.join(' '), flags };
}

/** The settings in which the runs differ, in the order in which the runs name them. */
export function differencesOf(runs: readonly Pick<ComparedRun, 'settings' | 'profile'>[]): Difference[] {
  const all = runs.map(({ profile, settings }): Record<string, string> => ({ profile, ...settings }));
  const names = new Set(all.flatMap((settings) => Object.keys(settings)));
  return [...names]
    .map((name) => ({ name, values: all.map((settings) => settings[name] ?? null) }))
    .filter(({ values }) => new Set(values).size > 1);
}

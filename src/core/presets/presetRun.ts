// A preset as the run that it asks for, and back.
import type { Preset } from '../contracts/presetSchema.js';
import type { AskedRun } from '../plan/request/commandLine.js';
import { gpuWishOf } from '../plan/request/gpuWish.js';
import { joinWords, splitWords } from '../plan/request/argv.js';
import { ownWishesOf } from '../plan/request/ownWishes.js';
import { silenceTimeoutText, timeLimitOf, timeLimitText } from '../plan/request/timeLimit.js';
import { parseStage, stageText } from '../stage/spec.js';

/**
 * The run of a preset. `profile` is where it goes when the preset does not say. UserError (usage)
 * for a quote that does not end, and for GPUs, a time, a folder or a stage that are none.
 */
export function presetRun(preset: Preset, profile: string): AskedRun {
  const { name, command, runName, gpus, code, stage, timeLimit, silenceTimeout, share, ...rest } = preset;
  return {
    ...(Object.fromEntries(
      Object.entries(rest).filter(([, value]) => value !== undefined),
    ) as Partial<AskedRun>),
    profile: preset.profile ?? profile,
    words: splitWords(command),
    ...(runName === undefined ? {} : { name: runName }),
    ...(gpus === undefined ? {} : { gpus: gpuWishOf(String(gpus), `"gpus" of the preset ${name}`).text }),
    ...(timeLimit === undefined
      ? {}
      : { timeLimit: timeLimitOf(timeLimit, `"timeLimit" of the preset ${name}`) }),
    ...ownWishesOf({ silenceTimeout, share }, (field) => `"${field}" of the preset ${name}`),
    ...(code === undefined ? {} : { codeFolder: code }),
    ...(stage === undefined ? {} : { stage: parseStage(stage) }),
  };
}

/** The preset of this name that asks for the run. */
export function presetOf(name: string, run: AskedRun): Preset {
  const { profile, words, ranks, nodes, hosts, per, gpus, wait, tensorboard, evaluator } = run;
  const {
    name: runName,
    tags,
    notes,
    codeFolder: code,
    cwd,
    logdir,
    stage,
    budget,
    budgetStop,
    slurm,
    share,
    requirements,
  } = run;
  const timeLimit = run.timeLimit === undefined ? undefined : timeLimitText(run.timeLimit);
  const silenceTimeout =
    run.silenceTimeout === undefined ? undefined : silenceTimeoutText(run.silenceTimeout);
  const preset = {
    ...{ name, profile, command: joinWords(words), ranks, nodes, per, gpus, wait, tensorboard, evaluator },
    ...{ hosts: hosts && [...hosts], budget, budgetStop, timeLimit, silenceTimeout, share, slurm },
    ...{
      requirements,
      runName,
      tags: tags && [...tags],
      notes,
      code,
      cwd,
      logdir,
      stage: stage && stageText(stage),
    },
  };
  return Object.fromEntries(Object.entries(preset).filter(([, value]) => value !== undefined)) as Preset;
}

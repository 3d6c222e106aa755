// A checkpoint as the beginning of another run: its weights, by a flag of the trainer.
import type { RunFile } from '../contracts/runSchema.js';
import { join, type NodePath } from '../base/nodePath.js';
import { flagValue } from './request/flagValue.js';

const flag = '--init-weights';

/** What makes a training begin with the weights of a file. */
export const weightsAt = (file: string): string[] => [flag, file];

/** The same of a checkpoint: the run's folder, and the checkpoint's path below it. */
export const weightsFlag = (dir: NodePath, checkpoint: string): string[] =>
  weightsAt(join(dir, checkpoint, 'model.safetensors'));

/**
 * The checkpoint that the words of a training begin from; undefined where they name no file of a
 * run's checkpoint.
 */
export function originOf(words: readonly string[]): RunFile['from'] {
  const [, dir = '', step = ''] =
    /^(.+)\/checkpoints\/step-(\d{8,})\/model\.safetensors$/.exec(flagValue(words, flag) ?? '') ?? [];
  return dir === '' ? undefined : { dir, step: Number(step) };
}

/**
 * The command line of an earlier training with other flags: each takes the place of the same flag,
 * `--steps` and `--epochs` that of each other. Words that begin with a verb are the whole line.
 */
export function withFlags(words: readonly string[], changes: readonly string[]): string[] {
  if (changes.length === 0) return [...words];
  if (!(changes[0] ?? '').startsWith('--')) return [...changes];
  const names = new Set(changes.filter((word) => word.startsWith('--')).map(nameOf));
  if (names.has('--steps') || names.has('--epochs')) names.add('--steps').add('--epochs');
  return [...withoutFlags(words, names), ...changes];
}

/** Without the flags of these names and their values; a flag that another one follows has none. */
function withoutFlags(words: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('--') || !names.has(nameOf(word))) kept.push(word);
    else if (!word.includes('=') && words[at + 1]?.startsWith('--') === false) at++;
  }
  return kept;
}

const nameOf = (word: string): string => word.split('=', 1)[0] ?? word;

/**
 * The command line of a run that is resumed in its folder: without a `--resume` that was meant for
 * its first start. A checkpoint of another run stays, for a run that has none of its own yet.
 */
export function withoutOwnResume(words: readonly string[], dir: NodePath): string[] {
  const given = flagValue(words, '--resume');
  const isOthers = given !== undefined && given.includes('/') && !given.startsWith(`${dir}/`);
  return isOthers ? [...words] : withoutFlags(words, new Set(['--resume']));
}

/** The command line without what says where its weights came from before. */
export const withoutOrigin = (words: readonly string[]): string[] =>
  withoutFlags(words, new Set([flag, '--resume', '--run-dir']));

// The demo: labelled images drawn on this machine, and a small network that learns them.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress } from '../base/progress.js';
import { cacheFolder } from '../setup/runtime.js';
import recipe from './demo.json' with { type: 'json' };

/** What runs the trainer to its end and returns its output. */
interface TrainerRunner {
  runTrainer(args: readonly string[], progress?: Progress): Promise<string>;
}

/**
 * Draws them into the user's cache, unless they are there. Returns the folder that holds train/ and
 * validation/.
 */
export async function prepareDemoData(machine: TrainerRunner, progress: Progress = {}): Promise<string> {
  const folder = join(cacheFolder(), 'demo', `shapes-${recipe.images}`);
  const there = await stat(join(folder, 'validation')).catch(() => undefined);
  if (there?.isDirectory() === true) return folder;
  progress.onProgress?.('drawing labelled images');
  await machine.runTrainer(['prep', '--from', `demo:${recipe.images}`, '--to', folder], progress);
  return folder;
}

/** The training command line of the demo; scripts/demo runs the same recipe without an editor. */
export function demoTraining(data: string): string[] {
  const where = ['--data', join(data, 'train'), '--eval-data', join(data, 'validation')];
  return ['train', ...recipe.flags, ...where, '--epochs', String(recipe.epochs)];
}

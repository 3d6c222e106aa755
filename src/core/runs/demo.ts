// The demo: labelled images drawn on this machine, and a small network that learns them.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalMachine, Progress } from '../machine.js';
import { cacheFolder } from '../nodes/runtime.js';

const images = '5x400';

/** Draws them into the user's cache, unless they are there. Returns the folder that holds train/ and validation/. */
export async function prepareDemoData(machine: LocalMachine, progress: Progress = {}): Promise<string> {
  const folder = join(cacheFolder(), 'demo', `shapes-${images}`);
  const there = await stat(join(folder, 'validation')).catch(() => undefined);
  if (there?.isDirectory() === true) return folder;
  progress.onProgress?.('drawing labelled images');
  await machine.runTrainer(['prep', '--from', `demo:${images}`, '--to', folder], progress);
  return folder;
}

/** The training command line of the demo. */
export function demoTraining(data: string, epochs = 12): string[] {
  const flags = ['--batch-size', '32', '--epochs', String(epochs), '--lr', '0.05', '--lr-scale-by-world'];
  const recipe = ['--warmup-epochs', '1', '--weight-decay', '5e-4', '--keep', '4'];
  const where = ['--data', join(data, 'train'), '--eval-data', join(data, 'validation')];
  return ['train', '--model', 'resnet20', ...where, ...flags, ...recipe];
}

// Run Demo.
import { demoTraining, prepareDemoData } from '../../../core/plan/demo.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { startRun } from './startRun.js';

/** Draws images where there are none yet, and trains a small network on them. */
export async function runDemo(ui: Ui): Promise<void> {
  const machine = await (await ui.services.backend()).machine('local');
  const data = await withProgress('Trainyard demo', (progress) => prepareDemoData(machine, progress));
  await startRun(ui, { profile: 'local', words: demoTraining(data), name: 'demo' });
}

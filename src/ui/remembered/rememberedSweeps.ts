// The sweeps of this workspace that a window drives. One that is still here when a window opens
// ended with the window before it.
import type { Memento } from 'vscode';
import type { AskedRun } from '../../core/plan/request/commandLine.js';

/** What was typed for a sweep. */
export interface SweepAnswers {
  /** What the trials have in common. */
  run: AskedRun;
  settings: string;
  count: string;
  metric: string;
  /** The first step after which poor trials are stopped; empty for never. */
  prune: string;
  /** All trials wait on the nodes at once, and go on without this window. */
  ahead?: boolean;
}

const key = 'trainyard.openSweeps';

/** With the folder of each one's record. */
export const rememberedSweeps = (memory: Memento): readonly (readonly [string, SweepAnswers])[] =>
  memory.get<[string, SweepAnswers][]>(key) ?? [];

export const rememberSweep = (memory: Memento, folder: string, answers: SweepAnswers): Thenable<void> =>
  memory.update(key, [...others(memory, folder), [folder, answers]]);

export const forgetSweep = (memory: Memento, folder: string): Thenable<void> =>
  memory.update(key, others(memory, folder));

const others = (memory: Memento, folder: string): (readonly [string, SweepAnswers])[] =>
  rememberedSweeps(memory).filter(([other]) => other !== folder);

// A run that a form or a preset asks for, as a start takes it.
import { resolve } from 'node:path';
import type { AskedRun } from '../../../core/plan/request/commandLine.js';
import type { RecentRun } from '../../recentRuns.js';
import { workspaceFolder } from '../../workspace/workspace.js';
import type { StartOptions } from './startRun.js';

/** What is remembered of the run, and how this start of it is made. */
export function startOf(run: AskedRun, base = workspaceFolder()): { recent: RecentRun; how: StartOptions } {
  const { wait = false, tensorboard, cwd, codeFolder, requirements, ...recent } = run;
  return {
    recent: {
      ...recent,
      ...(cwd === undefined ? {} : { cwd: resolve(base, cwd) }),
      ...(codeFolder === undefined ? {} : { codeFolder: resolve(base, codeFolder) }),
      ...(requirements === undefined ? {} : { requirements: resolve(base, requirements) }),
    },
    how: { wait, ...(tensorboard === true ? { tensorboard } : {}) },
  };
}

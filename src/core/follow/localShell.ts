// The environment of a shell in a run's folder on this machine.
import { delimiter, dirname } from 'node:path';
import type { NodePath } from '../base/nodePath.js';
import type { Machine } from '../cluster/nodes/machine.js';

/** What the run's ranks have, besides `env`. */
export async function localShellEnvironment(
  machine: Pick<Machine, 'node'>,
  dir: NodePath,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const { run } = await (await machine.node.client()).request('run.get', { dir });
  const programs = run ? [run.paths.trainer, run.paths.python].map((path) => dirname(path)) : [];
  return {
    ...run?.env,
    TRAINYARD_RUN_DIR: dir,
    TRAINYARD_TERMINAL: '1', // what ends a run leaves it, and what is started in it, alone
    PATH: [...programs, env['PATH'] ?? ''].join(delimiter),
  };
}

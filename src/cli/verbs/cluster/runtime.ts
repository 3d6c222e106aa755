import { exitCodes } from '../../../core/base/errors.js';
import type { Verb } from '../../context.js';

export const runtime: Verb = {
  verb: 'runtime',
  summary: 'makes (or checks) the local runtime and prints its paths',
  words: [],
  flags: [],
  details: [
    'Installs MPICH, oneDNN and TensorBoard from a hash-pinned list into ~/.cache/trainyard, once. Needs python3 with venv.',
  ],
  async run(context) {
    await context.profile();
    const made = await context.withProgress((progress) => context.machine.runtime(progress));
    if (context.json) {
      context.output.json({ type: 'runtime', ...made });
      return exitCodes.done;
    }
    const { runtimeDir, nodeDir, agent, trainer, mpiexec, python, tensorboardServer } = made;
    const paths = {
      runtime: runtimeDir,
      node: nodeDir,
      agent,
      trainer,
      mpiexec,
      python,
      tensorboard: tensorboardServer,
    };
    for (const [name, path] of Object.entries(paths)) context.output.line(`${name.padEnd(12)}${path}`);
    return exitCodes.done;
  },
};

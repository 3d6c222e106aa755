import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { localShellEnvironment } from '../../../core/follow/localShell.js';
import { runTerminal } from '../../../core/follow/runTerminal.js';
import type { NodePath } from '../../../core/base/nodePath.js';
import type { Context, Verb } from '../../context.js';
import { remoteShell } from '../../remoteShell.js';

export const terminal: Verb = {
  verb: 'terminal',
  summary: "opens a terminal in a run's folder, on one of its nodes",
  words: ['RUN', 'NODE?'],
  flags: [
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    "The shell has the environment of the run's ranks. Its exit code is that of the command.",
    'Of a run that Slurm has started, NODE is one of its compute nodes, by default the first. srun opens the shell there beside the run, so these nodes need no sshd. A run without nodes has its terminal on the login node.',
    'Of another cluster, NODE is one of its hosts, by default the head. On the others it is a plain login.',
  ],
  async run(context, args) {
    const { dir } = await context.resolveRun(args);
    const place = await runTerminal(context.machine, context.currentProfile, dir, args.words[1]);
    if (!place) return shellHere(context, dir);
    context.output.note(`terminal on ${place.where}`);
    return remoteShell(place);
  },
};

/** On this machine. */
async function shellHere({ machine }: Context, dir: NodePath): Promise<number> {
  const env = { ...process.env, ...(await localShellEnvironment(machine, dir, process.env)) };
  const ignore = (): void => undefined; // Ctrl-C is the shell's
  process.on('SIGINT', ignore);
  try {
    const shell = spawn(process.env['SHELL'] ?? '/bin/sh', [], { cwd: dir, env, stdio: 'inherit' });
    const [code] = (await once(shell, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    process.off('SIGINT', ignore);
  }
}

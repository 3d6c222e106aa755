import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { runOnAll, type HostEnding } from '../../../core/cluster/nodes/fanOut.js';
import { lineText, type HostLine } from '../../../core/cluster/nodes/hostLines.js';
import type { SshMachine } from '../../../core/cluster/sshMachine.js';
import type { SshNode } from '../../../core/cluster/nodes/sshNode.js';
import { exitCodes, throwIfCancelled, UserError } from '../../../core/base/errors.js';
import { nodePath } from '../../../core/base/nodePath.js';
import { copySource } from '../../../core/stage/spec.js';
import type { Args, Flag } from '../../args.js';
import type { Context, Verb } from '../../context.js';
import { errorWords } from '../../remedies.js';

const hostsFlag: Flag = { name: 'hosts', value: 'A,B', help: 'only these hosts; by default all' };

async function choose(
  context: Context,
  args: Args,
): Promise<{ machine: SshMachine; nodes: readonly SshNode[] }> {
  const profile = await context.profile(args.words[0]);
  const machine = demandCluster(context.machine, profile, 'Use your shell, or a profile of kind ssh');
  return { machine, nodes: machine.select(args.value('hosts')?.split(',')) };
}

export const exec: Verb = {
  verb: 'exec',
  summary: 'runs a command on every host of a cluster',
  words: ['P'],
  flags: [hostsFlag],
  rest: true,
  details: [
    'No shell reads the words: write  -- sh -c "…"  for one. Each line is shown with its host before it.',
    'A line of more than 64 KiB is cut, and says so. Exits 5 when it failed on any host, and 3 when all that failed is that hosts could not be reached.',
  ],
  async run(context, args) {
    if (args.rest.length === 0) {
      throw new UserError(
        'usage',
        'there is no command',
        'Write it after --: trainyard exec P -- nvidia-smi',
      );
    }
    const { nodes } = await choose(context, args);
    const width = Math.max(...nodes.map(({ name }) => name.length));
    const onLine = (line: HostLine): void => {
      if (context.json) context.output.json({ type: 'line', ...line });
      else if (line.stream === 'stdout') {
        context.output.line(`${line.host.padEnd(width)} | ${lineText(line)}`);
      } else context.output.note(`${line.host.padEnd(width)} ! ${lineText(line)}`);
    };
    const endings = await context.withProgress(async ({ signal }) => {
      const ended = await runOnAll(nodes, args.rest, onLine, signal);
      throwIfCancelled(signal);
      return ended;
    });
    for (const { host, code, signal, error } of endings) {
      const why = error === undefined ? null : errorWords(error);
      if (context.json) context.output.json({ type: 'exit', host, code, signal, error: why });
      else if (code !== 0) {
        context.output.note(`${host}: ${why ?? signal ?? `exit ${code ?? 'unknown'}`}`);
      }
    }
    return execExit(endings);
  },
};

/** What failed counts more than what was not reached. */
export function execExit(endings: readonly Pick<HostEnding, 'code' | 'error'>[]): number {
  const failed = endings.filter(({ code }) => code !== 0);
  if (failed.length === 0) return exitCodes.done;
  const isUnreached = failed.every(({ error }) => error instanceof UserError && error.code === 'connection');
  return isUnreached ? exitCodes.connection : exitCodes.failed;
}

export const copy: Verb = {
  verb: 'copy',
  summary: 'copies a file or folder of this machine, or of a host, to every host of a cluster',
  words: ['P', 'SRC', 'DST'],
  flags: [hostsFlag],
  details: [
    'It is sent to one of them, and from there from node to node, on a port of the portRange.',
    'A folder is copied as it is: its files go below DST. A file becomes DST, or goes into it when DST ends with a slash. ~/ is the home folder of the host.',
    'HOST:PATH is a file or folder of one of the hosts. It goes straight to the others; nothing passes through this machine.',
    "Example: trainyard copy lab ./images '~/images' (in quotes, or the shell here puts its own home there)",
  ],
  async run(context, args) {
    const [, from = '', to = ''] = args.words;
    const { machine, nodes } = await choose(context, args);
    const names = machine.nodes.map(({ name }) => name);
    const spec = copySource(from, nodePath(to), names);
    const { files, hosts } = await context.withProgress(async (progress) => {
      if (spec) {
        const { files, nodes: got } = await machine.copyFrom(nodes, spec, progress);
        return { files, hosts: got.map(({ host }) => host) };
      }
      const files = await machine.copy(nodes, from, nodePath(to), progress);
      return { files, hosts: nodes.map(({ name }) => name) };
    });
    if (context.json) context.output.json({ type: 'copied', files, hosts, to });
    else context.output.line(`${files} ${files === 1 ? 'file' : 'files'} to ${to} on ${hosts.join(', ')}`);
    return exitCodes.done;
  },
};

// Where the terminal of a run opens: on this machine, on its cluster's head, on one of its nodes, or
// on a compute node of its Slurm allocation, which needs no sshd.
import { UserError } from '../base/errors.js';
import { visible } from '../base/visible.js';
import type { NodePath } from '../base/nodePath.js';
import { demandCluster } from '../cluster/demandCluster.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { statusOf } from '../model/runStatus.js';
import { nodesNow, type AllocatedNode } from '../slurm/step.js';
import type { SshShell, TerminalSize } from '../ssh/base/transport.js';
import { QuietStart } from './quietStart.js';
import { runShellStart } from './runShell.js';

/** A terminal of a run on another machine. */
export interface RunTerminal {
  /** The node, for people. */
  where: string;
  open: (size: TerminalSize) => Promise<SshShell>;
}

/**
 * On `host`, one of the run's nodes. By default the first compute node of a run that Slurm has
 * started, else the profile's head, in the run's folder. Undefined where that is this machine, which
 * needs no connection. UserError (usage).
 */
export async function runTerminal(
  machine: Machine,
  profile: Profile,
  dir: NodePath,
  host?: string,
): Promise<RunTerminal | undefined> {
  if (machine.shell === undefined) {
    if (host === undefined) return undefined;
    const what = `the run is on this machine, and ${host} is not`;
    throw new UserError('usage', what, 'Leave the node out');
  }
  const onHead = machine.shell.bind(machine);
  const inFolder = (node?: AllocatedNode): RunTerminal['open'] => {
    const start = runShellStart(dir, node);
    return async (size) => new QuietStart(await onHead(size), start, greeting(dir));
  };
  const head = { where: machine.nodes[0]?.name ?? profile.name, open: inFolder() };
  if (profile.kind !== 'slurm') {
    if (host === undefined || host === head.where) return head;
    const [node] = demandCluster(machine, profile, 'Leave the node out').select([host]);
    if (!node) return head;
    // The run's folder there has logs alone, so this is a plain login.
    return { where: host, open: async (size) => (await node.connection()).shell(size) };
  }
  const details = await (await machine.node.client()).request('run.get', { dir });
  const at = computeNode(details, host);
  return at ? { where: at.host, open: inFolder(at) } : head;
}

/** The first line of the terminal: where it is, as not every prompt says that. */
const greeting = (dir: NodePath): string => `\x1b[2m${visible(dir)}\x1b[0m\r\n`;

/** Undefined where no host was named and the run has no nodes now. UserError (usage). */
function computeNode(details: RunDetails, host?: string): AllocatedNode | undefined {
  const { id } = details;
  const nodes = nodesNow(details);
  const hasNodes = nodes.length > 0;
  if (!hasNodes && host === undefined) return undefined;
  if (!hasNodes) {
    const what = `${id} has no nodes now: it is ${statusOf(details)}`;
    throw new UserError('usage', what, 'Leave the node out for a terminal on the login node');
  }
  const at = nodes.find((node) => node.host === (host ?? nodes[0]?.host));
  if (at) return at;
  const names = nodes.map((node) => node.host).join(', ');
  throw new UserError('usage', `${host} is no node of ${id}`, `Its nodes are ${names}`);
}

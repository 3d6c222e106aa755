// Compute nodes of runs that Slurm has given nodes: reached by srun, each while somebody needs it.
import { UserError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { NodePath } from '../../base/nodePath.js';
import type { RunDetails } from '../../contracts/agentApi.js';
import { isOver, statusOf } from '../../model/runStatus.js';
import type { AllocatedNode } from '../../slurm/step.js';
import { ThroughStep } from '../../ssh/throughStep.js';
import { SshNode, type SshNodeOptions } from './sshNode.js';

interface Reached {
  at: AllocatedNode;
  node: SshNode;
}

/** One compute node for each run. Owns what it reaches; the login node is another's. */
export class AllocatedNodes implements Disposable {
  private readonly reached = new Map<NodePath, Reached>();

  constructor(
    private readonly login: SshNode,
    private readonly shared: Omit<SshNodeOptions, 'transport'>,
  ) {}

  /** The node for the run in `dir`, the same as before while the run has it. */
  reach(dir: NodePath, at: AllocatedNode): SshNode {
    const known = this.reached.get(dir);
    if (known?.at.job === at.job && known.at.host === at.host) return known.node;
    this.letGo(dir);
    const transport = new ThroughStep(this.login, at);
    const node = new SshNode({ host: at.host }, { ...this.shared, transport });
    this.reached.set(dir, { at, node });
    return node;
  }

  /** Ends what runs for this run beside its job. */
  letGo(dir: NodePath): void {
    this.reached.get(dir)?.node.dispose();
    this.reached.delete(dir);
  }

  dispose(): void {
    for (const dir of [...this.reached.keys()]) this.letGo(dir);
  }
}

/** Why TensorBoard of a run without nodes is served nowhere, and what can be done. */
export function noBoard(details: RunDetails, profile: string): UserError {
  const status = statusOf(details);
  const what = `${details.id} has no nodes that TensorBoard could run on: it is ${status}`;
  if (!isOver(status)) return new UserError('usage', what, 'Open it once the run has nodes');
  const hint = `Where the cluster allows TensorBoard on the login node, set "tensorboard" to "login" in "slurm" of profile ${profile}. Else copy the run's folder to this machine, and open it there`;
  return new UserError('usage', what, hint);
}

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
  dir: NodePath;
  at: AllocatedNode;
  node: SshNode;
}

/** Owns what it reaches; the login node is another's. */
export class AllocatedNodes implements Disposable {
  private reached: Reached[] = [];

  constructor(
    private readonly login: SshNode,
    private readonly shared: Omit<SshNodeOptions, 'transport'>,
  ) {}

  /** A node of the run in `dir`, the same as before while the run's job has it. */
  reach(dir: NodePath, at: AllocatedNode): SshNode {
    this.end((one) => one.dir === dir && one.at.job !== at.job);
    const known = this.reached.find((one) => one.dir === dir && one.at.host === at.host);
    if (known) return known.node;
    const transport = new ThroughStep(this.login, at);
    const node = new SshNode({ host: at.host }, { ...this.shared, transport });
    this.reached.push({ dir, at, node });
    return node;
  }

  /** Ends what runs for this run beside its job. */
  letGo(dir: NodePath): void {
    this.end((one) => one.dir === dir);
  }

  dispose(): void {
    this.end(() => true);
  }

  private end(which: (one: Reached) => boolean): void {
    const ending = this.reached.filter(which);
    this.reached = this.reached.filter((one) => !ending.includes(one));
    for (const { node } of ending) node.dispose();
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

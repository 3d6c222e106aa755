// A compute node of Slurm's, which needs no sshd: each channel is a process beside the job that has
// the node, started by srun on the login node.
import { programStep, type AllocatedNode } from '../slurm/step.js';
import { failure, ForwardingForbidden } from './base/failures.js';
import type { SshConnection, SshTarget, SshTransport } from './base/transport.js';
import { ProgramConnection, type Head } from './programConnection.js';

/** Reaches one compute node while a job has it. Owns nothing. */
export class ThroughStep implements SshTransport {
  /** `head`: the login node. */
  constructor(
    private readonly head: Head,
    private readonly at: AllocatedNode,
  ) {}

  /** UserError (connection), Cancelled. */
  async connect({ host }: SshTarget, { signal }: { signal?: AbortSignal }): Promise<SshConnection> {
    const { head, at } = this;
    const inJob = `${host} of Slurm's job ${at.job}`;
    const later = 'Look whether the job still has its nodes, and try again';
    const connection = new ProgramConnection(host, head, await head.connection(signal), {
      words: (command) => programStep(at, command),
      refused: (why) => failure(`srun does not get to ${inJob}: ${why}`, later),
      noTerminal: failure(`${inJob} is reached by srun without a terminal`, later),
      noForwarding: new ForwardingForbidden(`${inJob} is reached by srun, which does not forward`),
    });
    await connection.tryLogin(signal);
    return connection;
  }

  dispose(): void {
    // the login node's transport has the connection
  }
}

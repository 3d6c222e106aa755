// The nodes of a run join its head; what keeps one from it ends the run, with the node's own words.
import { AgentError } from '../agent/agentClient.js';
import { UserError } from '../base/errors.js';
import { join, type NodePath } from '../base/nodePath.js';
import { portRangeOf } from '../contracts/ports.js';
import type { Profile } from '../contracts/profileSchema.js';
import { givenWorkdir } from '../profiles/workdir.js';
import type { NodeRuntime } from '../setup/runtime.js';
import type { GpuLocks } from './gpus/gpuLocks.js';
import type { SshNode } from './nodes/sshNode.js';

/** The nodes of a run with what each needs. */
interface JoiningNodes {
  profile: Profile;
  head: SshNode;
  others: readonly SshNode[];
  runtimes: ReadonlyMap<SshNode, NodeRuntime>;
  locks: GpuLocks;
}

/**
 * Every other node joins the run that its head has just taken up. `address` is the one at which the
 * nodes reach the head. UserError (failed) where a node did not join: its reason goes to the head
 * too. UserError (connection).
 */
export async function joinNodes(
  { id, dir, address }: { id: string; dir: NodePath; address: string },
  { profile, head, others, runtimes, locks }: JoiningNodes,
): Promise<void> {
  if (others.length === 0) return;
  const atHead = await head.node.client();
  const workdir = givenWorkdir(profile);
  const { port, key } = await atHead.request('run.joining', { dir });
  await Promise.all(
    others.map(async (node) => {
      const runtime = runtimes.get(node);
      if (!runtime) throw new TypeError(`${node.name} was not prepared`);
      const { agent, trainer, runtimeDir } = runtime;
      const paths = { agent, trainer, proxy: join(runtimeDir, 'bin', 'hydra_pmi_proxy') };
      const client = await node.node.client();
      const own = { workdir, id, host: node.name, key, paths, ...locks.of(node.name) };
      try {
        await client.request('run.join', { ...own, head: { address, port } });
      } catch (error) {
        if (!(error instanceof AgentError) || error.code <= 0) throw error;
        const why = error.message.slice(0, mostSaid);
        await atHead.request('run.not_joined', { dir, host: node.name, why });
        const hint = {
          kind: 'openPorts',
          profile: profile.name,
          host: head.name,
          range: portRangeOf(profile),
        } as const;
        throw new UserError('failed', `${node.name}: ${why}`, hint, { cause: error });
      }
    }),
  );
}

/** Characters of a reason, of 4 bytes at most. */
const mostSaid = 1000;

// Which build of the CUDA back end the compute nodes of a Slurm cluster get: by the drivers that
// earlier jobs noted there (native/agent/slurm/slurm_nodes.py).
import * as z from 'zod/mini';
import type { NodePath } from '../base/nodePath.js';
import type { Bootstrap } from './bootstrap.js';
import { chooseCudaBuild, type CudaElsewhere, type CudaRelease } from './cudaBuild.js';

const notedNodeSchema = z.object({
  node: z.string(),
  driver: z.string(),
  /** PCI device numbers, four hex digits each. */
  gpus: z.array(z.string()),
  /** Seconds since the epoch. */
  time: z.number(),
});
/** A compute node as its newest job saw it. */
export type NotedNode = z.infer<typeof notedNodeSchema>;

const answerSchema = z.object({ nodes: z.array(notedNodeSchema) });

/**
 * Seconds. A site renews the drivers of all nodes at about the same time, so what is that much
 * older than the newest note says nothing any more.
 */
const outdated = 30 * 86_400;

/**
 * Where nothing is noted, CUDA 12's: it runs with every driver and GPU that CUDA 13's runs with,
 * and with older ones. `partitions`: the names in the profile, empty where Slurm chooses. `has`:
 * which builds are there.
 */
export function chooseElsewhere(
  noted: readonly NotedNode[],
  partitions: readonly string[],
  has: (release: CudaRelease) => boolean,
): CudaElsewhere {
  const newest = Math.max(...noted.map(({ time }) => time));
  const judged = noted
    .filter(({ time }) => time >= newest - outdated)
    .map(({ node, driver, gpus }) => ({ node, ...chooseCudaBuild({ driver, gpus }) }));
  const fits = judged.find(({ release }) => release === 12) ?? judged.find(({ release }) => release === 13);
  if (fits?.release !== undefined) {
    // CUDA 12's runs wherever CUDA 13's does.
    const release = fits.release === 13 && !has(13) && has(12) ? 12 : fits.release;
    return { release, why: `on ${fits.node} ${fits.why}` };
  }
  const [unfit] = judged;
  const of = partitions.length === 0 ? '' : ` of partition ${partitions.join(',')}`;
  const why = unfit
    ? `on ${unfit.node} ${unfit.why}`
    : `no job has noted the drivers of the nodes${of} yet, and most drivers run it`;
  return { release: has(13) && !has(12) ? 13 : 12, why };
}

/**
 * Asked at the login node, whose disk the compute nodes see. UserError (connection, preflight),
 * Cancelled.
 */
export async function findElsewhere(
  bootstrap: Bootstrap,
  { workdir, partitions }: { workdir: NodePath; partitions: readonly string[] },
  has: (release: CudaRelease) => boolean,
): Promise<CudaElsewhere> {
  const { nodes } = await bootstrap.request('slurm-drivers', { workdir, partitions }, answerSchema);
  return chooseElsewhere(nodes, partitions, has);
}

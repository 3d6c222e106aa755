// The partitions of the Slurm cluster that a login node belongs to.
import * as z from 'zod/mini';
import { partitionsOf, type Partition } from '../slurm/partitions.js';
import { sinfoFields, sinfoFormat } from '../slurm/sinfo.js';
import type { SshMachine } from './sshMachine.js';

const answerSchema = z.object({ version: z.string(), partitions: z.string(), json: z.unknown() });

/** What a cluster offers. `version` is Slurm's own word of itself. */
export interface Site {
  version: string;
  partitions: Partition[];
}

/**
 * Asks Slurm on the machine's head, whatever the kind of its profile. UserError (preflight) where
 * there is no Slurm, or where it gives no answer; UserError (connection), Cancelled.
 */
export async function sitePartitions(machine: SshMachine): Promise<Site> {
  const [head] = machine.nodes;
  if (!head) throw new TypeError('a cluster has a head');
  const params = { fields: sinfoFields, format: sinfoFormat };
  const { version, partitions, json } = await head.withBootstrap((bootstrap) =>
    bootstrap.request('slurm-partitions', params, answerSchema),
  );
  return { version: version.trim(), partitions: partitionsOf(partitions, json) };
}

// A host that was reached may be the login node of a Slurm cluster: then runs go to a partition.
import * as vscode from 'vscode';
import { UserError } from '../../../core/base/errors.js';
import type { Logger } from '../../../core/base/log.js';
import { sitePartitions, type Site } from '../../../core/cluster/sitePartitions.js';
import { SshMachine } from '../../../core/cluster/sshMachine.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { partitionWords, profileOfPartition } from '../../../core/slurm/partitions.js';

interface Item extends vscode.QuickPickItem {
  profile: Profile;
}

/**
 * The profile of the chosen partition, or the session's own where the host has no Slurm or is to be
 * used without it. Undefined: it was given up.
 */
export async function choosePartition(
  title: string,
  { profile, connected }: ClusterSession,
  logger: Logger,
): Promise<Profile | undefined> {
  const [login, ...others] = profile.hosts ?? [];
  if (!login || others.length > 0 || profile.kind !== 'ssh') return profile;
  const site = connected instanceof SshMachine ? await siteOf(connected, logger) : undefined;
  if (!site || site.partitions.length === 0) return profile;
  const items: Item[] = site.partitions.map((partition) => ({
    label: partition.name,
    description: partition.isDefault ? 'the default partition' : '',
    detail: partitionWords(partition),
    profile: profileOfPartition(profile, profile.name, partition),
  }));
  const plain: Item = {
    label: `Without Slurm, on ${login.host} Itself`,
    detail: 'runs start at once there, outside of the queue',
    profile,
  };
  const item = await vscode.window.showQuickPick([...items, plain], {
    title: `${title}: ${login.host} Belongs to a Slurm Cluster`,
    placeHolder: 'Through which partition do runs go?',
    ignoreFocusOut: true,
  });
  return item?.profile;
}

/** Undefined where there is no Slurm, or none that answers. */
async function siteOf(machine: SshMachine, logger: Logger): Promise<Site | undefined> {
  try {
    return await sitePartitions(machine);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'preflight') throw error;
    logger.log('info', `no partitions: ${error.message}`);
    return undefined;
  }
}

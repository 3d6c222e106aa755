// `import --slurm`: the partitions of a Slurm cluster, and a profile of one of them.
import { exitCodes, remedyOf, UserError } from '../../../core/base/errors.js';
import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { sitePartitions, type Site } from '../../../core/cluster/sitePartitions.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { parseHosts } from '../../../core/profiles/import.js';
import { partitionWords, profileOfPartition, type Partition } from '../../../core/slurm/partitions.js';
import type { Args } from '../../args.js';
import type { Context } from '../../context.js';
import { table } from '../../format.js';
import { assertFree, saveNew } from './newProfile.js';

/**
 * Lists the partitions, or with `--name` or `--partition` saves a profile. Returns the exit code.
 */
export async function importSlurm(context: Context, args: Args): Promise<number> {
  const { base, isSaved } = await baseOf(context, args);
  const name = args.value('name');
  const wanted = args.value('partition');
  if (wanted !== undefined && name === undefined) {
    throw new UserError('usage', '--name is missing', 'Say how to call the profile');
  }
  if (name !== undefined) await assertFree(context, name);
  if (isSaved) await context.profile(base.name);
  const any = isSaved ? context.machine : context.unsavedProfile(base);
  const machine = demandCluster(any, base, 'It has no partitions');
  const login = machine.nodes[0]?.name ?? base.name;
  const site = await context.withProgress(async ({ signal, onProgress }) => {
    onProgress(`asking Slurm on ${login}`);
    await machine.connectHead(signal).catch((error: unknown) => {
      throw base.name === login ? asGiven(error) : error;
    });
    return sitePartitions(machine);
  });
  if (name === undefined) list(context, site);
  else {
    const partition = partitionOf(site, wanted);
    await saveNew(context, profileOfPartition(base, name, partition), 'Correct what was given');
    if (!context.json) context.output.line(`${name}: partition ${partition.name} of ${login}`);
  }
  return exitCodes.done;
}

/** Of a host that is in no profile: its name can only be wrong where it was given. */
function asGiven(error: unknown): unknown {
  if (!(error instanceof UserError) || remedyOf(error)?.kind !== 'checkHostName') return error;
  const hint = 'Check the name given to --slurm and your SSH configuration';
  return new UserError(error.code, error.what, hint, { cause: error });
}

/**
 * What `--slurm` names: a profile that is there, or the login node as it is reached. UserError
 * (usage).
 */
async function baseOf({ profiles }: Context, args: Args): Promise<{ base: Profile; isSaved: boolean }> {
  const given = args.value('slurm') ?? '';
  const flags = ['ssh-config', 'hosts', 'leader'].filter((flag) => args.has(flag));
  const excess = [...args.words, ...flags.map((flag) => `--${flag}`)];
  if (excess.length > 0) {
    const what = `--slurm was given together with ${excess.join(', ')}`;
    throw new UserError('usage', what, 'Leave that out');
  }
  const known = (await profiles.list()).find(({ name }) => name === given);
  if (known) return { base: known, isSaved: true };
  const [login, ...others] = parseHosts(given.replace(/[\s,]+/g, '\n'));
  if (!login || others.length > 0) {
    throw new UserError('usage', '--slurm names more than one host', 'Name one login node of the cluster');
  }
  return { base: { name: login.host, kind: 'slurm', hosts: [login] }, isSaved: false };
}

/** UserError (usage) where there is none of that name, or no default one. */
function partitionOf({ partitions }: Site, wanted: string | undefined): Partition {
  const found = partitions.find(({ name, isDefault }) =>
    wanted === undefined ? isDefault : name === wanted,
  );
  if (found) return found;
  const what =
    wanted === undefined ? 'the cluster has no default partition' : `Slurm has no partition ${wanted}`;
  const names = partitions.map(({ name }) => name).join(', ');
  throw new UserError('usage', what, `Name one of its partitions by --partition: ${names}`);
}

function list({ json, output }: Context, { version, partitions }: Site): void {
  if (json) {
    for (const partition of partitions) output.json({ type: 'partition', ...partition });
    return;
  }
  const rows = partitions.map((each) => [
    each.isDefault ? `${each.name} (default)` : each.name,
    partitionWords(each),
  ]);
  for (const line of table(['PARTITION', 'NOW'], rows)) output.line(line);
  output.note(`${version}; --partition and --name make a profile of one of them`);
}

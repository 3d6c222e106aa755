// Profiles that are handed on to other people: what is left out of one, and what it would do here.
import type { Host, Profile } from '../contracts/profileSchema.js';

/** Without the key files: they are of one machine. Its environment stays, so it holds no secrets. */
export function withoutKeyFiles(profile: Profile): Profile {
  if (!profile.hosts) return profile;
  return { ...profile, hosts: profile.hosts.map(withoutKeyFile) };
}

function withoutKeyFile(host: Host): Host {
  const copy = { ...host };
  delete copy.identityFile;
  return copy;
}

/**
 * What there is to look at before a profile of somebody else is used: where it connects to, and
 * what of it runs there. A line each, the place first.
 */
export function reviewOf(profile: Profile): string[] {
  const { hosts = [], prologue, env = {}, slurm, stage, train } = profile;
  const list = (what: string, items: readonly (string | undefined)[]): string[] => {
    const known = [...new Set(items.filter((item) => item !== undefined))];
    return known.length === 0 ? [] : [`${what}: ${known.join(', ')}`];
  };
  return [
    profile.kind === 'local' ? 'Runs on this machine' : `Connects to ${hosts.map(addressOf).join(', ')}`,
    ...list(
      'Through',
      hosts.map(({ proxyJump }) => proxyJump),
    ),
    ...list(
      'Offers the key',
      hosts.map(({ identityFile }) => identityFile),
    ),
    ...list('Runs before each process', [prologue]),
    ...list('Sets', Object.keys(env)),
    ...list('Options of sbatch', slurm?.lines ?? []),
    ...list('Puts on each node', [stage && `${stage.from} as ${stage.to}`]),
    ...list('Trainings have', [train?.flags?.join(' ')]),
  ];
}

function addressOf({ host, user, port }: Host): string {
  return `${user === undefined ? '' : `${user}@`}${host}${port === undefined ? '' : `:${port}`}`;
}

// What a profile says of its hosts: which is the head, how this machine reaches one, and how the
// nodes reach one another.
import type { Host, Profile } from '../../contracts/profileSchema.js';
import type { SshTarget } from '../../ssh/base/transport.js';

/** How the transport reaches a host of a profile. */
export function targetOf({ host, port, user, identityFile, proxyJump }: Host): SshTarget {
  return {
    host,
    ...(port === undefined ? {} : { port }),
    ...(user === undefined ? {} : { user }),
    ...(identityFile === undefined ? {} : { identityFile }),
    ...(proxyJump === undefined ? {} : { proxyJump }),
  };
}

/** The hosts of a profile, of which the head is the first. */
export function headFirst(profile: Profile): Host[] {
  const hosts = profile.hosts ?? [];
  const head = hosts.find(({ host }) => host === profile.head) ?? hosts[0];
  return head ? [head, ...hosts.filter((host) => host !== head)] : [];
}

/** The name of the head; empty where the profile has no hosts. */
export const headName = (profile: Profile): string => headFirst(profile)[0]?.host ?? '';

/** Names of whoever asks for them. */
const ownNames = ['localhost', '127.0.0.1', '::1'];

/**
 * How the other nodes reach a host: the profile's `address`, else what the SSH configuration has
 * for it (`hostName`), which nodes know where an alias is known on this machine alone. A forwarded
 * port of this machine leads nowhere from there, and a run takes no IPv6 address: then the host's
 * name.
 */
export function addressOf({ host, address }: Host, hostName = host): string {
  if (address !== undefined) return address;
  return ownNames.includes(hostName) || !/^[\w.-]+$/.test(hostName) ? host : hostName;
}

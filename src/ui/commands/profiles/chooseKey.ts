// Choose Key.
import type { HostArgument } from '../../../contributions.js';
import type { Host } from '../../../core/contracts/profileSchema.js';
import { connect } from '../cluster/connect.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { askKeyFile } from './askKeyFile.js';
import { changed } from './saveProfile.js';

/**
 * The key goes to the host, and to the others that have the same one so far: it is put to the user
 * for which. Connects anew.
 */
export async function chooseKey(ui: Ui, given?: Partial<HostArgument>): Promise<void> {
  const { profile: name, host } = given ?? {};
  const target = name === undefined ? undefined : { profile: name };
  const session = await pickProfile(ui, target, 'Choose Key', ({ profile }) => profile.kind === 'ssh');
  if (!session) return;
  const { profile } = session;
  const hosts = profile.hosts ?? [];
  const named = hostsOfKey(hosts, host);
  const identityFile = await askKeyFile(`Choose Key for ${profile.name}`, `The key for ${list(named)}`);
  if (identityFile === undefined) return;
  const changedHosts = hosts.map((each) => (named.includes(each) ? { ...each, identityFile } : each));
  await (await ui.services.backend()).profiles().save({ ...profile, hosts: changedHosts });
  session.disconnect();
  await changed(ui);
  await connect(ui, { profile: profile.name });
}

/** Those that log in by the same key as this one; all where it is none of them. */
function hostsOfKey(hosts: readonly Host[], name: string | undefined): Host[] {
  const one = hosts.find(({ host }) => host === name);
  return hosts.filter(({ identityFile }) => !one || identityFile === one.identityFile);
}

function list(hosts: readonly Host[]): string {
  const names = hosts.map(({ host }) => host);
  return names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
}

// Choose Key.
import type { HostArgument } from '../../../contributions.js';
import { connect } from '../cluster/connect.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { askKey, hostsOfKey, withKey } from './askKeyFile.js';
import { changed } from './saveProfile.js';

/**
 * The key goes to the host, and to the others that have the same one so far: the question names
 * them. Connects anew.
 */
export async function chooseKey(ui: Ui, given?: Partial<HostArgument>): Promise<void> {
  const { profile: name, host } = given ?? {};
  const target = name === undefined ? undefined : { profile: name };
  const session = await pickProfile(ui, target, 'Choose Key', ({ profile }) => profile.kind !== 'local');
  if (!session) return;
  const { profile } = session;
  const before = profile.hosts ?? [];
  const named = hostsOfKey(before, host);
  const key = await askKey(`Choose Key for ${profile.name}`, named);
  if (key === undefined) return;
  const store = (await ui.services.backend()).profiles();
  await store.change(profile.name, (current) => ({
    ...current,
    hosts: withKey(current.hosts ?? [], named, key),
  }));
  session.disconnect();
  await changed(ui);
  await connect(ui, { profile: profile.name });
}

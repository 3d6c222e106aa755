// Choose Key.
import type { HostArgument } from '../../../contributions.js';
import { connect } from '../cluster/connect.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { hostsOfKey, withChosenKey } from './askKeyFile.js';
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
  const hosts = await withChosenKey(`Choose Key for ${profile.name}`, before, hostsOfKey(before, host));
  if (!hosts) return;
  await (await ui.services.backend()).profiles().save({ ...profile, hosts });
  session.disconnect();
  await changed(ui);
  await connect(ui, { profile: profile.name });
}

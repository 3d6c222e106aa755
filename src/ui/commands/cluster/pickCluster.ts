// The cluster that a command is for.
import type { ProfileArgument } from '../../../contributions.js';
import { demandCluster } from '../../../core/cluster/demandCluster.js';
import type { SshMachine } from '../../../core/cluster/sshMachine.js';
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';

interface Cluster {
  session: ClusterSession;
  machine: SshMachine;
}

export async function pickCluster(
  ui: Ui,
  given: ProfileArgument | undefined,
  title: string,
): Promise<Cluster | undefined> {
  const session = await pickProfile(ui, given, title, ({ profile }) => profile.kind !== 'local');
  if (!session) return undefined;
  const hint = 'Choose a profile whose hosts are reached by SSH';
  return { session, machine: demandCluster(await session.machine(), session.profile, hint) };
}

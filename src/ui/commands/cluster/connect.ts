// Connect.
import type { ProfileArgument } from '../../../contributions.js';
import { rememberProfile } from '../../recentRuns.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { reopenTunnels } from './reopenTunnels.js';

export async function connect(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Connect', ({ state }) => state.kind !== 'connected');
  if (!session) return;
  await session.machine();
  await rememberProfile(ui.services, session.profile.name);
  await reopenTunnels(ui, session);
  await (await ui.services.backend()).monitor.refresh(session.profile.name);
}

// Disconnect.
import type { ProfileArgument } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';

export async function disconnect(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Disconnect', ({ state }) => state.kind === 'connected');
  session?.disconnect();
}

// The tunnels of a profile that is connected again.
import type { ClusterSession } from '../../../core/follow/clusterSession.js';
import { parseTunnel } from '../../../core/tunnels/tunnelSpec.js';
import { errorWords } from '../../remedies.js';
import { rememberedTunnels } from '../../remembered/rememberedTunnels.js';
import type { Ui } from '../ui.js';

/**
 * Those that were open when the profile was connected last. One that fails is said, and does not
 * end the others.
 */
export async function reopenTunnels(ui: Ui, session: ClusterSession): Promise<void> {
  const { name } = session.profile;
  for (const text of rememberedTunnels(ui.services.context.globalState, name)) {
    try {
      await session.tunnels?.open(parseTunnel(text));
    } catch (error) {
      ui.services.logger.log('warn', `tunnel ${text} of ${name}: ${errorWords(error)}`);
    }
  }
}

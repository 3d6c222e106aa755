// Close Tunnel.
import * as vscode from 'vscode';
import type { TunnelArgument } from '../../../contributions.js';
import { tunnelText } from '../../../core/tunnels/tunnelSpec.js';
import { forgetTunnel } from '../../remembered/rememberedTunnels.js';
import type { Ui } from '../ui.js';

export async function closeTunnel(ui: Ui, given?: TunnelArgument): Promise<void> {
  const backend = await ui.services.backend();
  const all = (await backend.clusters.list()).flatMap((session) =>
    (session.tunnels?.all ?? []).map((tunnel) => ({ session, tunnel, label: tunnelText(tunnel.spec) })),
  );
  const chosen = given
    ? all.find(({ session, label }) => session.profile.name === given.profile && label === given.tunnel)
    : await vscode.window.showQuickPick(
        all.map((each) => ({ ...each, description: each.session.profile.name })),
        { title: 'Close Tunnel' },
      );
  if (!chosen) return;
  chosen.session.tunnels?.close(chosen.tunnel);
  await forgetTunnel(ui.services.context.globalState, chosen.session.profile.name, chosen.label);
  await ui.clusters.refresh();
}
